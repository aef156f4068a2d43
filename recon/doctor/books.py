"""The database: whether it answers, is ours, keeps what it must, and has room. Leaves nothing in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from recon.doctor.patients import Check, Patient, Pen
from recon.doors import machine
from recon.doors.store import checkup, revisions, triggers
from recon.doors.store.engines import Database
from recon.model.errors import ReconError
from recon.model.records.remarks import Remark, Section
from recon.model.settings import Settings

_DATABASE = Pen(Section.DATABASE)
_FULL = "2"  # SQLite's number for synchronous = FULL.
# A run of ten thousand changes writes some 50 MB, with its log; a full disk ends it in the middle.
_TIGHT_BYTES, _FULL_BYTES = 1_000_000_000, 100_000_000
_SECOND_BYTES = 1_000_000


def opened(settings: Settings) -> Database | None:
    """Return the database, having heard from it; None where there is none, or not for us.

    A SQLite file that is not there is not made: that is recon db upgrade's to do.
    """
    url = settings.database_url.reveal()
    try:
        database = Database.open(url, make_folder=False)
        file = checkup.file(url)
        if file is not None and not file.exists():
            return None
        checkup.server(database)
    except ReconError:  # The checks say why.
        return None
    return database


def _answer(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    try:
        found = _heard(patient.settings, patient.database)
    except ReconError as error:
        yield _DATABASE.failure(
            str(error),
            "Look at RECON_DATABASE_URL and whether its server runs: until it answers nothing is read.",
        )
        return
    if isinstance(found, Path):
        yield _DATABASE.failure(f"There is no database yet at {found}.", "recon db upgrade")
        return
    told = ", ".join(f"{name} {value}" for name, value in _plain(found.modes).items())
    yield _DATABASE.ok(f"{found.kind} {found.version} answers: {told}.")
    yield from modes(found)
    if patient.settings.database_url == Settings().database_url:
        yield _DATABASE.warning(
            "RECON_DATABASE_URL is not set: the data is in var/recon.db below the folder recon starts in.",
            "Set it, so that a job that starts elsewhere finds the same database.",
        )


def _heard(settings: Settings, database: Database | None) -> checkup.Server | Path:
    """Return what answers, or the file that is not there."""
    if database is not None:
        return checkup.server(database)
    url = settings.database_url.reveal()
    with Database.open(url, make_folder=False) as again:  # It says what was wrong with it.
        file = checkup.file(url)
        return checkup.server(again) if file is None or file.exists() else file


def _plain(modes: Mapping[str, str]) -> dict[str, str]:
    full = ("synchronous", _FULL)
    return {name: "full" if (name, value) == full else value for name, value in modes.items()}


def modes(found: checkup.Server) -> Iterator[Remark]:
    """Yield what is wrong with how the database was set up."""
    if found.modes.get("journal_mode", "wal") != "wal":
        yield _DATABASE.warning(
            f"The journal mode is {found.modes['journal_mode']}, expected wal.",
            "Readers and the run wait for each other: put the file on a local disk, not on a network share.",
        )
    if found.modes.get("synchronous", _FULL) != _FULL:
        yield _DATABASE.failure(
            "SQLite is not synchronous: what was committed may not survive a power cut.",
            "Report this: recon asks for it each time.",
        )
    if found.modes.get("server_encoding", "UTF8") != "UTF8":
        yield _DATABASE.warning(
            f"The encoding is {found.modes['server_encoding']}, expected UTF8.",
            "Names that it cannot hold are refused: make the database anew with UTF8.",
        )


def _revision(patient: Patient) -> Iterator[Remark]:
    if patient.database is None:
        return
    found, newest = revisions.current(patient.database), revisions.head()
    if found == newest:
        yield _DATABASE.ok(f"The tables are at revision {found}, the newest.")
        return
    try:
        revisions.check(patient.database)
    except ReconError as error:
        text, _, todo = str(error).rstrip(".").partition(": ")
        newer = "newer" in todo
        yield _DATABASE.failure(
            f"{text}.", f"Install the newer recon: {todo}." if newer else "recon db upgrade, then this again."
        )


def _triggers(patient: Patient) -> Iterator[Remark]:
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        return
    with patient.database.read() as connection:
        lacking = triggers.missing(connection)
    if lacking:
        yield _DATABASE.failure(
            f"These triggers are missing or switched off: {', '.join(lacking)}.",
            "recon db upgrade makes them anew; then find out who dropped them, and run recon verify: what "
            "was written meanwhile was not seen.",
        )
    else:
        yield _DATABASE.ok("All triggers are there.")


def _trial(patient: Patient) -> Iterator[Remark]:
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        return
    try:
        found = checkup.trial(patient.database)
    except ReconError as error:
        yield _DATABASE.failure(
            f"It cannot be written. {error}",
            "The job's user needs to insert, update and delete in recon's tables, and a disk that takes it.",
        )
        return
    yield _DATABASE.ok("It can be written (tried, and taken back).")
    if found.broken:
        yield _DATABASE.failure(
            f"An entry of the audit trail could be {' and '.join(found.broken)} (tried, and taken back).",
            "recon db upgrade, then recon verify: somebody has replaced the triggers or what they call.",
        )
    else:
        yield _DATABASE.ok("Entries of the audit trail can only be added (tried, and taken back).")
    if not found.journal:
        yield _DATABASE.failure(
            "A new intent leaves no touch (tried, and taken back): runs do not see what changes.",
            "recon db upgrade, then recon run.",
        )


def _room(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None or patient.database is None:
        return
    file = checkup.file(patient.settings.database_url.reveal())
    if file is None:
        return
    free = machine.free_bytes(file.parent)
    told = f"{free // _SECOND_BYTES:,} MB are free where {file.name} is"
    if free < _FULL_BYTES:
        yield _DATABASE.failure(f"{told}.", "Make room: a full disk ends a run in the middle.")
    elif free < _TIGHT_BYTES:
        yield _DATABASE.warning(f"{told}.", "Make room before it is gone.")
    else:
        yield _DATABASE.ok(f"{told}.")
    if patient.settings.provider.api_key.reveal().startswith(("sk_live_", "rk_live_")):
        yield _DATABASE.warning(
            "The key is a live one, and the database is a SQLite file.",
            "It serves one machine and one disk. For production give RECON_DATABASE_URL a PostgreSQL.",
        )


CHECKS = (
    Check("what the database is", _answer),
    Check("at which revision it is", _revision),
    Check("whether its triggers are there", _triggers),
    Check("whether it can be written, and its entries only added", _trial),
    Check("how much room it has", _room),
)
