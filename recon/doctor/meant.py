"""The intents: how many, of which time, and whether a table of somebody else's can be read as intents."""

from collections import Counter
from collections.abc import Iterator, Mapping

from recon.doctor.patients import Check, Patient, Pen
from recon.doors.store import checkup, foreign, revisions
from recon.doors.store.engines import Database
from recon.model import wording
from recon.model.errors import ConfigurationError, ReconError
from recon.model.phrases import several
from recon.model.records.remarks import Remark, Section

_INTENTS = Pen(Section.INTENTS)
_SAMPLE = 1_000  # Rows: read in a second, and enough to meet every status word that matters.
_SHOWN = 3  # Reasons: one is enough to begin with, three show whether it is one cause.
# Every rejected row withholds what it touches and makes each run end with 3. A few are a day's work; one row
# in twenty is a mapping that is wrong, and so is one word of theirs that nobody has mapped.
_ONE_IN = 20


def _held(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        yield _INTENTS.warning("How many intents there are is not known.", "See the database.")
        return
    found = checkup.holdings(patient.database)
    number = sum(found.statuses.values())
    if not number:
        where = "the next run copies yours" if patient.settings.intents else "every refund is an orphan"
        yield _INTENTS.warning(
            f"There is no intent in recon's database: {where}.",
            "recon run"
            if patient.settings.intents
            else "Let the guarded tool write them, or name your own table in [intents] of recon.toml.",
        )
        return
    span = f"{found.first_at:%Y-%m-%d} to {found.last_at:%Y-%m-%d}"
    words = _counted(found.statuses)
    copied = f", {found.mapped:,} of them copied from your table" if found.mapped else ""
    yield _INTENTS.ok(f"{several(number, 'intent')} of {span}: {words}{copied}.")


def _mapped(patient: Patient) -> Iterator[Remark]:
    mapping = patient.settings.intents if patient.settings is not None else None
    if mapping is None or patient.settings is None:
        return
    where = mapping.table if mapping.url is None else f"{mapping.table} in another database"
    if mapping.url is None and patient.database is None:
        return  # It is in the database that does not answer, which is said there.
    try:
        url = patient.settings.database_url.reveal()
        database = patient.database or Database.open(url, make_folder=False)
        found = foreign.sample(database, mapping, limit=_SAMPLE)
    except ConfigurationError as error:
        elsewhere = "" if mapping.url else " In another database: set RECON_INTENTS_DATABASE_URL."
        yield _INTENTS.failure(
            str(error), f"Put [intents] in recon.toml right, or let our user read that table.{elsewhere}"
        )
        return
    except ReconError as error:
        yield _INTENTS.failure(f"{where} cannot be read: {error}", "Look at RECON_INTENTS_DATABASE_URL.")
        return
    good, bad = len(found.frame), len(found.rejects)
    if not good and not bad:
        yield _INTENTS.warning(f"{where} is empty.", "Look whether [intents] names the right table.")
    if good:
        held = Counter(found.frame["status"].astype(str))
        first = several(good + bad, "row")
        yield _INTENTS.ok(f"Of the first {first} of {where}, {good:,} can be read: {_counted(held)}.")
    if bad:
        # Of each reason one row: a status word that the mapping lacks stands in many.
        reasons = tuple({each.reason: each for each in reversed(found.rejects)}.values())[::-1]
        first = " ".join(
            f"Row {each.row} ({each.id or 'no key'}): {each.reason}." for each in reasons[:_SHOWN]
        )
        unmapped = any(foreign.STATUSES in each.reason for each in found.rejects)
        say = _INTENTS.failure if unmapped or bad * _ONE_IN >= good + bad else _INTENTS.warning
        yield say(
            f"Of the first {several(good + bad, 'row')} of {where}, {bad:,} cannot be judged. {first}",
            "Put the rows or the mapping right: until then what they touch is withheld, and a run exits 3.",
        )
    for note in found.notes:
        yield _INTENTS.warning(
            note, "Put the id right in your table: until then nothing is tied to it by that id."
        )
    if foreign.may_write(database, mapping):
        yield _INTENTS.warning(
            f"Our user may write to {where}, and never needs to.",
            "Give it SELECT alone: then no mistake of ours can reach your table.",
        )


def _counted(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {wording.plain(status)}" for status, count in sorted(statuses.items()))


CHECKS = (Check("how many intents there are", _held), Check("what your table holds", _mapped))
