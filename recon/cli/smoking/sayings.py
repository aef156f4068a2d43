"""What a tool says became of a refund, as far as words tell: done, not done, under way, unknown.

Never takes an answer for more than it says: one that says both, or nothing of the kind, is left to a person.
"""

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum, auto

from recon.model.records.provider import Refund
from recon.model.records.words import RefundStatus

_LONGEST = 10_000  # Characters of an answer that are read.
_MOST = 200  # Values of an answer that are read.


class Says(StrEnum):
    """What an answer says of a refund."""

    DONE = auto()
    NOT_DONE = auto()
    UNDERWAY = auto()  # As a provider says of one that takes days.
    UNKNOWN = auto()
    BOTH = auto()  # Done, and something else too: a person may know what is meant.


_WORDS = {
    Says.DONE: r"(?:already_)?(?:done|refunded|succeeded|success|successful|completed?|processed|issued|"
    r"created|accepted|approved|paid|settled)|ok",
    Says.NOT_DONE: r"fail(?:ed|ure)?|error(?:ed)?|rejected|declined|denied|refused|cancell?ed|disabled|"
    r"unsuccessful|none|not_\w+|no_refund",
    Says.UNDERWAY: r"pending|processing|in_progress|requires_action|queued|submitted|initiated",
    Says.UNKNOWN: r"(?:\w+_)?unknown|uncertain|unclear|unconfirmed",
}
_PHRASES = {
    Says.DONE: r"\b(?:refunded|succeeded|success(?:ful(?:ly)?)?|completed?|processed|issued|done|"
    r"went (?:through|back))\b",
    Says.NOT_DONE: r"\b(?:fail(?:ed|ure|s)?|errors?|rejected|declined|denied|refused|unable|unsuccessful|"
    r"cancell?ed|disabled|not found|re-?try|try (?:it )?again|cannot|can[\u2019']t|could ?n(?:o|[\u2019'])t|"
    r"no (?:\w+ )?refunds?)\b",
    Says.UNDERWAY: r"\b(?:pending|processing|in progress|on its way|submitted|initiated)\b",
    Says.UNKNOWN: r"\b(?:unknown|uncertain|unclear|unconfirmed|not known)\b",
}
# Right before it, in the same clause: "has not been", "no errors".
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|nothing|without|cannot|unable)\b|n[\u2019']t\b)(?:[ \t]+[\w-]+){0,3}[ \t]+$",
    re.IGNORECASE,
)
_ALREADY = re.compile(
    r"\balready[ _](?:\w+[ _]){0,2}(?:refunded|done|processed|completed?|issued)\b", re.IGNORECASE
)
_STATUSES = ("status", "state", "outcome", "result")
_FLAGS = ("success", "successful", "succeeded", "ok", "refunded", "done")
_ERRORS = ("isError", "is_error", "error", "errors")
_HTTP_ERROR = 400


def of(answer: object) -> Says | None:
    """Return what an answer says; None where it says nothing of the kind.

    Of a mapping or an object its status, its flags and its error are read; where it has none, or is a text,
    the words.
    """
    if isinstance(answer, str):
        return _of_text(answer)
    if isinstance(answer, bool):
        return Says.DONE if answer else Says.NOT_DONE
    if isinstance(answer, list | tuple) and not answer:
        return Says.NOT_DONE
    return _summed(set(_of_fields(answer))) or _of_text(" . ".join(_texts(answer)))


def of_error(error: BaseException) -> Says:
    """Return what is said by raising: that it is not done, unless the words are that it was already."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__)
    return Says.DONE if _ALREADY.search(f"{name}: {error}"[:_LONGEST]) else Says.NOT_DONE


def fits(says: Says | None, text: str, made: Refund) -> bool | None:
    """Return whether an answer fits a live refund; None where that cannot be read. text: all of it."""
    named = made.id in text
    if says is Says.UNDERWAY:
        return named or made.status != RefundStatus.SUCCEEDED
    if says is None:
        return True if named else None
    return None if says is Says.BOTH else says is Says.DONE


def _of_text(text: str) -> Says | None:
    """Return what a text says: JSON, one of the status words, or a sentence."""
    text = text[:_LONGEST].strip()
    if text.startswith(("{", "[")):
        try:
            return of(json.loads(text))
        except (ValueError, RecursionError):  # It only begins like JSON.
            pass
    return _of_word(text) or _summed(set(_of_phrases(text)))


def _of_word(text: str) -> Says | None:
    word = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).strip("_").lower()
    return next((says for says, words in _WORDS.items() if re.fullmatch(words, word)), None)


def _of_phrases(text: str) -> Iterator[Says]:
    """Yield what each phrase says; to deny that it is done is to say that it is not, and no more."""
    for says, phrases in _PHRASES.items():
        for found in re.finditer(phrases, text, re.IGNORECASE):
            if not _DENIED.search(text, 0, found.start()):
                yield says
            elif says is Says.DONE:
                yield Says.NOT_DONE


def _of_fields(answer: object) -> Iterator[Says]:
    for name in _STATUSES:
        value = _field(answer, name)
        if isinstance(value, str) and (says := _of_text(value)) is not None:
            yield says
    code = _field(answer, "status_code")
    if isinstance(code, int):  # That an answer came over HTTP does not say what it says.
        if code >= _HTTP_ERROR:
            yield Says.NOT_DONE
        return
    for name in _FLAGS:
        if isinstance(flag := _field(answer, name), bool):
            yield Says.DONE if flag else Says.NOT_DONE
    if any(_field(answer, name) for name in _ERRORS):
        yield Says.NOT_DONE


def _field(answer: object, name: str) -> object:
    value: object = answer.get(name) if isinstance(answer, Mapping) else getattr(answer, name, None)
    return value.value if isinstance(value, Enum) else value


def _texts(answer: object) -> Iterator[str]:
    """Yield the texts in an answer, whatever the fields that hold them are called."""
    waiting, read = [answer], 0
    while waiting and read < _MOST:
        one, read = waiting.pop(0), read + 1
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        elif one is not None and not isinstance(one, bool | int | float):
            yield str(one)


def _summed(said: set[Says]) -> Says | None:
    """Return what several things say together; None where there are none."""
    if Says.DONE in said:
        return Says.DONE if said <= {Says.DONE, Says.UNDERWAY} else Says.BOTH
    return next(
        (each for each in (Says.BOTH, Says.UNKNOWN, Says.NOT_DONE, Says.UNDERWAY) if each in said), None
    )
