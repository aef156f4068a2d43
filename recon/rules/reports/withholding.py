"""Why each withheld subject was not judged, from what was read and what was rejected."""

from collections.abc import Mapping

from recon.model import subjects, versions
from recon.model.frames import Intake
from recon.model.phrases import iso
from recon.model.records.reports import Report, Side
from recon.model.records.results import Reject
from recon.model.records.words import AccountId, Subject

_TOUCHED = "a row that it rests on was rejected"
Named = frozenset[tuple[str, str]]


def reasons(report: Report, intents: Intake, refunds: Intake) -> Mapping[tuple[AccountId, Subject], str]:
    """Return why, in words, by account and subject, for everything that the result withholds."""
    found: dict[tuple[AccountId, Subject], str] = {}
    sides = (
        (subjects.OF_INTENTS, "key", ("refund_id",), intents, refunds, report.refunds),
        (subjects.OF_REFUNDS, "id", versions.KEYS, refunds, intents, report.intents),
    )
    for prefix, column, naming, mine, other, read in sides:
        pairs = [pair for pair in report.result.withheld if pair[1].startswith(prefix)]
        names = {subject.removeprefix(prefix) for _, subject in pairs}
        rows = mine.frame.loc[mine.frame[column].isin(names), [column, "account", "created_at", *naming]]
        named, ids = _named(other.rejects), _ids(other.rejects)
        told = {}
        for name, account, created_at, *keys in rows.itertuples(index=False, name=None):
            touched = (account, name) in named or any((account, key) in ids for key in keys)
            outside = read.reading.from_at is not None and created_at < read.reading.from_at
            told[account, f"{prefix}{name}"] = _TOUCHED if touched else _coverage(read, outside=outside)
        found |= {pair: told[pair] for pair in pairs if pair in told}
    return found


def _named(rejects: tuple[Reject, ...]) -> Named:
    """Return what rejected rows of the other side name."""
    return frozenset((each.account, name) for each in rejects for name in each.names)


def _ids(rejects: tuple[Reject, ...]) -> Named:
    return frozenset((each.account, each.id) for each in rejects if each.id is not None)


def _coverage(other: Side, *, outside: bool) -> str:
    """Return what the other side's files do not hold."""
    if other.reading.complete and outside and other.reading.from_at is not None:
        return f"older than what the file of {other.name} holds, which begins at {iso(other.reading.from_at)}"
    return f"not all {other.name} were read"
