"""A former report of `recon diff --format json` as records again, to compare a later result with.

Takes of it only what a comparison needs, and refuses whatever is not a report of ours.
"""

from datetime import datetime

from recon.model import moments, money, phrases, values
from recon.model.errors import UnusableInput
from recon.model.records.comparisons import Earlier, Seen
from recon.model.records.results import Money
from recon.model.records.words import AccountId, Kind, RefundId, Subject, Verdict


def read(content: bytes, *, source: str) -> Earlier:
    """Return the former report.

    Raises:
        UnusableInput: it is no report of ours; the message says what was found instead.
    """
    try:
        document = values.parsed(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _strange(source, "it is not UTF-8") from None
    except (ValueError, RecursionError):  # Not JSON, or nested beyond reason.
        raise _strange(source, "it is not JSON") from None
    if not isinstance(document, dict):
        raise _strange(source, "it is not one object")
    as_of, verdict, mismatches = (document.get(name) for name in ("as_of", "verdict", "mismatches"))
    moment = moments.read(as_of) if isinstance(as_of, str) else None
    if moment is None:
        raise _strange(source, "it has no as_of")
    if verdict not in list(Verdict) or not isinstance(mismatches, list):
        raise _strange(source, "it has no verdict or no list of mismatches")
    seen: dict[tuple[AccountId, Subject], Seen] = {}
    for number, row in enumerate(mismatches, start=1):
        account, subject, found = _mismatch(row, source=source, number=number)
        if (account, subject) in seen:
            raise _strange(source, f"mismatch {number} is about a subject that another is about")
        seen[account, subject] = found
    return Earlier(source, moment, Verdict(verdict), seen)


def check_order(earlier: Earlier, as_of: datetime) -> None:
    """Raise where a former report was judged later than the one that it is compared with.

    Raises:
        UnusableInput: it was.
    """
    if earlier.as_of > as_of:
        raise UnusableInput(
            f"{earlier.source} was judged as of {phrases.iso(earlier.as_of)}, after {phrases.iso(as_of)}: "
            "compare with an earlier report, or say a later --as-of."
        )


def _mismatch(row: object, *, source: str, number: int) -> tuple[AccountId, Subject, Seen]:
    fields = row if isinstance(row, dict) else {}
    account, subject, kind = (fields.get(name) for name in ("account", "subject", "kind"))
    amount, currency = fields.get("amount_at_risk"), fields.get("currency")
    if not (isinstance(account, str) and isinstance(subject, str) and kind in list(Kind)):
        raise _strange(source, f"mismatch {number} has no account, subject or kind of ours")
    if not (_is_writable(account) and _is_writable(subject)):
        raise _strange(source, f"mismatch {number} has an account or subject with half a character")
    if type(amount) is not int or not isinstance(currency, str) or currency not in money.EXPONENTS:
        raise _strange(source, f"mismatch {number} has no amount_at_risk in a currency of the provider's")
    ids = fields.get("refund_ids", [])
    if not (isinstance(ids, list) and all(isinstance(each, str) for each in ids)):
        raise _strange(source, f"mismatch {number} has no list of refund_ids")
    refund_ids = tuple(RefundId(each) for each in ids)
    return AccountId(account), Subject(subject), Seen(Kind(kind), Money(amount, currency), refund_ids)


def _is_writable(text: str) -> bool:
    """Return whether a text has UTF-8: half a surrogate pair, which JSON can spell, has none."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _strange(source: str, found: str) -> UnusableInput:
    return UnusableInput(
        f"{source} must be a report that recon diff --format json wrote, to compare with; but {found}."
    )
