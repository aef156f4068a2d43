"""Sentences that tell a model to repeat what moves money or changes the world.

Quiet about reads, about what is forbidden, and about repeating under the same key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SENTENCE = re.compile(
    r"""
    # Up to its end, a blank line or an item.
    (?:[^\n.!?;]|[.!?;](?=\S)|\n(?!\s*(?:\n|[-*+\u2022>#|]|\d+[.)]\s|<)))+
    """,
    re.VERBOSE,
)
# What makes "retry" a verb: what follows it. "Retry count", "retry, cancellation" and the like are nouns.
_OBJECT = (
    r"(?=\s*(?:$|[.!?)\]\"\u201d*_`]|,\s+(?:up|until|at)\b|\s+(?:the|it|them|that|this|your|an?|any|"
    r"each|every|all|until|up|at|if|when|whenever|"
    r"once|twice|immediately|automatically|silently|with|after|on|as|for|in|by|\d+|one|two|three|four|"
    r"five|several|and|"
    r"failed|refunds?|charges?|payments?|transfers?|payouts?|calls?|again|instead|before|without|"
    r"\w+_\w+)\b|\s+`))"
)
_AGAIN = re.compile(
    rf"""\b(?:
        re-?try(?!-){_OBJECT} | re-?attempt{_OBJECT}
        | (?:re-?submit | re-?send | re-?issue | re-?run | re-?invoke)
            (?=\s+(?:the|it|that|this|your|an?|\w*refund\w*)\b)
        | (?:try|attempt|call|run|issue|send|submit|invoke|execute|do|make|process|use)(?!\s+not\b)
            (?:\s+[\w`'"()*-]+){{0,6}}?\s+(?:again|once\s+more|one\s+more\s+time|a\s+second\s+time|another\s+time)\b
        | (?:keep|start)\s+(?:on\s+)?(?:re-?)?(?:try|call|attempt|send|issu|submitt)ing
        | repeat\s+(?:the|this|that|it|your)\b(?:\s+[\w`'"-]+){{0,4}}
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# What stands right before an order: nothing, the end of a clause, or a word that orders or permits.
_ORDERED = re.compile(
    r"(?:^\W*|[,;:\u2014\u2013(>\"\u201c]\s*|\b(?:then|and|or|please|always|simply|just|immediately|"
    r"should|must|shall|to|automatically|first|"
    r"silently|safely|instead|(?:you|we|agent|assistant|bot|model)\s+(?:can|may|will|could|might|should|must)"
    r"(?:\s+(?:then|also|always|safely|just|simply))?)\s+)[\"\u201c*_`]*$",
    re.IGNORECASE,
)
# A sentence that only names a retry at its end needs more to be an order: what went wrong, or who is told.
_CONDITION = re.compile(
    r"\b(?:if|when(?:ever)?|in\s+case|on|upon|after|should|until|unless)\b.*?"
    r"(?:fail|error|time[sd]?[\s-]*out|no\s+(?:response|answer)|not\s+\w+|n[\u2019']t\s|unsuccessful|"
    r"exception|problem|wrong|[45]\d\d|"
    r"unavailable|slow|busy|succeed|success|goes|works)|\b(?:then|please|always|simply|just|must|should|"
    r"you)\b",
    re.IGNORECASE | re.DOTALL,
)
_FORBIDDEN = re.compile(
    r"\b(?:never|do\s+not|don[\u2019']t|must\s*n(?:o|[\u2019'])t|should\s*n(?:o|[\u2019'])t|shall\s+not|"
    r"can\s*not|can[\u2019']t|may\s+not|"
    r"avoid|without|instead\s+of|rather\s+than|no\s+need\s+to|not\s+to|nor|refuse\s+to|forbidden|stop|"
    r"unsafe|unless\s+told|"
    r"will\s+not|won[\u2019']t|does\s+not|doesn[\u2019']t|wrong\s+to|dangerous\s+to|why|whether|who|"
    r"which|how)\b[^,;:]*$",
    re.IGNORECASE,
)
_BANNED = re.compile(
    r"^\W*(?:\w+\W+){0,2}?(?:never|do\s+not|don[\u2019']t|under\s+no\s+circumstances|must\s+not|no\b)"
    r"(?!\s+(?:give|stop|worry|panic|hesitate|tell|say|mention|escalate|apologi|ask))",
    re.IGNORECASE,
)
# A list under such a line says what not to do.
_BANNED_LIST = re.compile(
    r"(?:never|do\s+not|don[\u2019']ts?|must\s+not|should\s+not|avoid|forbidden|prohibited|"
    r"not\s+allowed|not\s+to|mistakes?)\b[^\n]*$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*+\u2022>]|\d+[.)])\s")
_SAFE = re.compile(
    r"(?:corrected|different|fixed|valid|other|new)\s+(?:parameters?|arguments?|inputs?|values?)|"
    r"same\s+(?:idempotency[\s-]+)?(?:key|intent|reference)|idempoten|look(?:ing|ed)?\s+(?:it\s+|"
    r"the\s+\w+\s+)?up|"
    r"look\s+(?:first|before)|pending_unknown|(?:after|only\s+(?:if|when|after)|once)\s+\w*\s*(?:check|"
    r"look|verif|confirm)|"
    r"(?:check|verify|confirm)\w*\s+(?:that|whether|if)\b|(?:is|are|be|was)\s+(?:not\s+allowed|"
    r"forbidden|unsafe|dangerous|a\s+bug)",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:ask|tell|invite|advise|let|instruct|request|suggest|recommend|inform|encourage|remind|"
    r"have)(?:s|ing)?\b[^.]{0,60}?"
    r"\b(?:customers?|users?|callers?|guests?|buyers?|clients?|them|they|him|her|shoppers?|"
    r"cardholders?)\b[^.]*$"
    r"|\b(?:say|reply|respond|answer)\b[^.]*[\"\u201c'][^\"\u201d]*$|\b(?:customers?|users?|they|"
    r"cardholders?|clients?|servers?|services?|workers?|sdks?|library|middleware|framework)\s+"
    r"(?:can|may|should|must|will|could)(?:\s+\w+){0,2}\s*$|\(the\s+model\s+(?:should|must|can|may)\s*$",
    re.IGNORECASE,
)
_STATUS_WORDS = re.compile(
    r"(?:error|failed|failure|http|pending)\s+status|status\s+(?:code|error|is|of|=|"
    r":)?\s*(?:\W?(?:failed|error|\d))",
    re.IGNORECASE,
)
_READS = re.compile(
    r"\b(?:look-?ups?|status|reads?|reading|fetch\w*|search\w*|quer(?:y|ies|ying)|retriev\w*|check\w*|"
    r"view\w*|download\w*|"
    r"(?:get|list|find|read|search|fetch|lookup|look_up|check|query|retrieve|load|view)_\w+|listing|"
    r"load(?:ing)?\s+the)\b",
    re.IGNORECASE,
)
_ACTS = re.compile(
    r"\b(?:\w*refund\w*|charg(?:e|es|ing)|re-?charge|pay-?outs?|transfers?|payments?|"
    r"pay(?:ing)?\b(?=\s+(?:the|a|it|them|out))|"
    r"reimburs\w+|disburs\w+|money|purchases?|bookings?|cancell?ations?|side[\s-]effects?|credit(?:s|"
    r"ing)?\s+(?:the|a|their)|"
    r"(?:create|issue|send|place|cancel|delete|book|transfer|pay|charge|submit|post|update|make|execute|"
    r"process)_\w+)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\w*refund\w*|\bcharg(?:e|es|ing)\b|pay-?outs?\b|\btransfers?\b|\bpayments?\b|\bmoney\b|reimburs|"
    r"side[\s-]effect",
    re.IGNORECASE,
)
# What an error happens to, when the sentence does not name it: then what was named last is meant.
_PRONOUN = re.compile(
    r"\b(?:it|this|that|(?:the|this|that|your|a|an|any|each|every)\s+(?:\w+\s+)?(?:tools?|calls?|"
    r"requests?|operations?|actions?|commands?|"
    r"functions?|steps?|transactions?|attempts?|responses?)|tools?|you\s+(?:get|see|receive)|errors?|"
    r"failures?|time-?outs?|exceptions?|"
    r"something|anything|tool\s+calls?)\b",
    re.IGNORECASE,
)
_ANY_TOOL = re.compile(
    r"\b(?:a|any|every|each|all)\s+(?:\w+\s+)?(?:tools?|calls?)\b|\btools\b|\btool\s+calls\b", re.IGNORECASE
)
_UNTIL = re.compile(
    r"until\s+(?:it|they|this|the|you|that|successful|success|confirmed|completed?)\b", re.IGNORECASE
)
_BACK = 600  # Characters before a sentence in which what it speaks of may be named.


@dataclass(frozen=True, slots=True)
class Order:
    """One sentence that tells to repeat: where the words begin, and the words."""

    offset: int
    words: str


def find(text: str, about: str = "") -> Iterator[Order]:
    """Return the orders in a text to repeat what has side effects, in the order of the text.

    about: what the text is of, such as a tool's name; it stands before everything in it.
    """
    if not _AGAIN.search(text):
        return
    for sentence in _SENTENCE.finditer(text):
        for match in _AGAIN.finditer(sentence[0]):
            if (
                _is_ordered(sentence[0], match)
                and not _is_in_banned_list(text, sentence)
                and _acts(text, sentence, match, about)
            ):
                yield Order(sentence.start() + match.start(), " ".join(match[0].split()))
                break


def _is_ordered(sentence: str, match: re.Match[str]) -> bool:
    """Return whether the words are an order or a permission, to a model, to do the same again unsafely."""
    before = sentence[: match.start()]
    if not _ORDERED.search(before) or _FORBIDDEN.search(before) or _BANNED.search(before):
        return False
    if not sentence[match.end() :].strip('*_`"\u201d) ') and before.strip() and not _CONDITION.search(before):
        return False
    return not _SAFE.search(sentence) and not _PEOPLE.search(before)


def _is_in_banned_list(text: str, sentence: re.Match[str]) -> bool:
    """Return whether a sentence is an item of a list whose first line forbids what follows."""
    *before, first = text[: sentence.end()].rstrip().rsplit("\n", 1)
    if not before or not _ITEM.match(first):
        return False
    heads = (
        line for line in reversed(before[0][-_BACK:].split("\n")) if line.strip() and not _ITEM.match(line)
    )
    head = next(heads, "")
    return head.rstrip("*_ ").endswith(":") and bool(_BANNED_LIST.search(head))


def _acts(text: str, sentence: re.Match[str], match: re.Match[str], about: str) -> bool:
    """Return whether what is to be repeated changes something; where it is not named, what was named last."""
    said = _STATUS_WORDS.sub(" ", sentence[0])
    if _READS.search(said):
        return False
    if _ACTS.search(said):
        return True
    context = f"{about}. {text[: sentence.start()]}"
    if _ANY_TOOL.search(said):
        return bool(_MONEY.search(f"{about} {text}"))
    if not (_PRONOUN.search(said) or _UNTIL.search(said) or len(match[0]) == len(said.strip())):
        return False
    near = context[-_BACK:] if _ACTS.search(context[-_BACK:]) else about
    acts = [each.end() for each in _ACTS.finditer(near)]
    reads = [
        each.end() for each in _READS.finditer(_STATUS_WORDS.sub(lambda found: " " * len(found[0]), near))
    ]
    return bool(acts) and (not reads or acts[-1] > reads[-1])
