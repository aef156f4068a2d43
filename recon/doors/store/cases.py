"""The one module that moves cases: a change and the entry that explains it are saved together or not at all.

Every move is a comparison of versions: a case that somebody moved meanwhile is left as it is and handed back.
Never decides what a case becomes; rules/cases.py and rules/moves.py do.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    exists,
    false,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from recon.doors.store import (
    chains,
    claims,
    four_eyes,
    leases,
    limits,
    outbox,
    proposals,
    remains,
    runs,
    seals,
    triggers,
)
from recon.doors.store.chains import StoredEntry
from recon.doors.store.engines import Database
from recon.doors.store.rows import case_record, case_row, entry_row
from recon.doors.store.statements import chunks, insert, upsert
from recon.model import subjects, tables
from recon.model.errors import CaseMoved, NotPermitted, Report
from recon.model.records.cases import Case, Change, Entry
from recon.model.records.claims import Claim
from recon.model.records.notices import Notice
from recon.model.records.proposals import Proposal
from recon.model.records.results import Due, Healable, Reject
from recon.model.records.runs import Lease, Run
from recon.model.records.words import DEAD, UNSETTLED, AccountId, Basis, CaseId, IntentStatus, Subject
from recon.model.tables import cases, intents, refunds

Pair = tuple[AccountId, Subject]
# Given the changes whose case had moved meanwhile, what is said of the others.
Anew = Callable[[Collection[Change]], Sequence[Notice]]

NEW = (0, chains.FIRST)  # Version and head of a case that is not there yet.


@dataclass(frozen=True, slots=True)
class Saving:
    """Everything one run leaves behind, saved in one transaction.

    changes: at most one per case. judged: the subjects that were read, whether their rows still exist or not;
    their times to be judged again are replaced by due. withheld: those of them that were not judged; the next
    run judges them again. rejects: of the tables that were read. anew: what takes the notices' place where
    some cases had moved meanwhile, so that nothing is said of those.
    """

    run: Run
    changes: tuple[Change, ...] = ()
    heals: tuple[Healable, ...] = ()
    notices: tuple[Notice, ...] = ()
    anew: Anew | None = None
    judged: Iterable[Pair] = ()
    due: tuple[Due, ...] = ()
    withheld: tuple[Pair, ...] = ()
    rejects: tuple[Reject, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of it.

    run: as it was saved. moved: changes that were not saved, because their case had moved meanwhile.
    not_healed: intents that no longer fitted; they stay in flight and are judged again by the next run.
    """

    run: Run
    moved: tuple[Change, ...]
    healed: tuple[Healable, ...]
    not_healed: tuple[Healable, ...]


def save_run(database: Database, lease: Lease, saving: Saving) -> Saved:
    """Save what a run found, all of it at once; hand back what no longer fitted.

    A notice of which every case had moved is not saved: plan those again, and save_changes them.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    run = saving.run
    with database.write() as connection:
        leases.check(connection, lease)
        healed = tuple(heal for heal in saving.heals if _heal(connection, heal, run))
        not_healed = tuple(heal for heal in saving.heals if heal not in set(healed))
        moved = _save(connection, saving.changes)
        outbox.add(connection, _still_true(saving.notices, moved, saving.anew))
        _replace_due(connection, saving, not_healed, moved)
        remains.replace_rejects(connection, saving.rejects, saving.judged, full=saving.run.full)
        run = replace(run, healed=len(healed), heads_digest=seals.close(connection, run.id))
        runs.put(connection, run)
        remains.prune_touches(connection, run.mark)
    return Saved(run, moved, healed, not_healed)


def save_changes(
    database: Database,
    lease: Lease,
    changes: Sequence[Change],
    *,
    notices: Sequence[Notice] = (),
    anew: Anew | None = None,
) -> tuple[Change, ...]:
    """Save changes that were planned again; return those whose case moved once more.

    anew: as in Saving.

    Raises:
        LeaseLost: Another run has taken over. Nothing was written.
    """
    with database.write() as connection:
        leases.check(connection, lease)
        moved = _save(connection, changes)
        outbox.add(connection, _still_true(notices, moved, anew))
    return moved


def move(
    database: Database,
    change: Change,
    notices: Sequence[Notice] = (),
    *,
    claim: Claim | None = None,
    proposal: Proposal | None = None,
) -> None:
    """Save a person's change, and what they said of its rows; the same action once more changes nothing.

    proposal: a new one, or the answer to an open one, that goes with the change.

    Raises:
        CaseMoved: Somebody moved the case or its rows, or answered the proposal, after they were read.
            Nothing was written.
        NotPermitted: The move takes a second person, and no approval of one goes with it. Nothing was
            written.
        Report: The action id was another move's. Nothing was written.
    """
    try:
        with database.write() as connection:
            _move(connection, change, notices, claim, proposal)
    except IntegrityError as error:
        if four_eyes.SECOND not in str(error.orig):
            raise
        raise NotPermitted(
            f"Expected the approval of another person for what {change.entry.actor} wants of case "
            f"{change.case.id}, found none: its amount at risk takes two people."
        ) from None


def get(database: Database, case_id: CaseId) -> Case | None:
    """Return the case of this id; None where there is none."""
    with database.read() as connection:
        row = connection.execute(select(cases).where(cases.c.id == case_id)).mappings().one_or_none()
    return None if row is None else case_record(row)


def entries(database: Database, case_id: CaseId) -> tuple[StoredEntry, ...]:
    """Return the case's whole story, oldest first."""
    columns = tables.entries.c
    query = select(tables.entries).where(columns.topic == case_id).order_by(columns.version)
    with database.read() as connection:
        return tuple(map(chains.stored, connection.execute(query).mappings()))


def stories(database: Database, *, but: Collection[str] = ()) -> Iterator[tuple[Case, tuple[Entry, ...]]]:
    """Yield every case with its entries, oldest first, in one view of the books; by id, some at a time.

    but: the ids of cases to leave out, such as those that cannot be read.
    """
    columns = tables.entries.c
    with database.read() as connection:
        every = connection.scalars(select(cases.c.id).order_by(cases.c.id)).all()
        for chunk in chunks([each for each in every if each not in but]):
            query = select(cases).where(cases.c.id.in_(chunk)).order_by(cases.c.id)
            found = [case_record(row) for row in connection.execute(query).mappings()]
            told: dict[str, list[Entry]] = {case.id: [] for case in found}
            told_by = select(tables.entries).where(columns.topic.in_(list(told)))
            for row in connection.execute(told_by.order_by(columns.topic, columns.version)).mappings():
                told[row["topic"]].append(chains.stored(row).entry)
            yield from ((case, tuple(told[case.id])) for case in found)


def verify(database: Database) -> tuple[str, ...]:
    """Return what is wrong with the books' own books, a sentence each: chains, seals, approvals, triggers."""
    with database.read() as connection:
        lacking = triggers.missing(connection)
        wrong = chains.broken(connection)
        named = {sentence.partition(":")[0] for sentence in wrong}
        wrong += (*chains.illegible(connection, but=named), *seals.broken(connection))
        wrong += (*proposals.unmade(connection), *proposals.untold(connection))
        wrong += limits.unexplained(connection)
        return wrong + tuple(f"The trigger {name} is missing." for name in lacking)


def sealed(database: Database) -> seals.Sealed:
    """Return how far the runs vouch for the entries."""
    with database.read() as connection:
        return seals.standing(connection)


def _move(
    connection: Connection,
    change: Change,
    notices: Sequence[Notice],
    claim: Claim | None,
    proposal: Proposal | None,
) -> None:
    case_id, entry = change.case.id, change.entry
    claims.hold(connection, claim)
    _versions(connection, [case_id])  # Whoever presses twice at once waits here.
    before = _saved_as(connection, entry.action_id)
    if before == (case_id, entry.action, entry.actor):
        return
    if proposal is not None and not proposals.write(connection, proposal):
        raise CaseMoved(
            f"Expected proposal {proposal.id} to wait for an answer, found that somebody gave one. "
            "Nothing of yours was saved: read the case again."
        )
    if before is not None:  # Else somebody would believe that theirs was saved.
        raise Report(f"Expected a new action id, found that of {before[1]} on case {before[0]}.")
    if _save(connection, [change]):
        found = connection.scalar(select(cases.c.version).where(cases.c.id == case_id))
        raise CaseMoved(
            f"Expected case {case_id} at version {change.from_version}, found it at {found}: "
            "somebody moved it. Read it again, then decide."
        )
    if claim is not None and not claims.write(connection, claim):
        raise CaseMoved(
            f"Expected {claim.rests_on} as they were read, found that they changed. Nothing of yours was "
            "saved: read the case again, then decide."
        )
    outbox.add(connection, notices)


def _save(connection: Connection, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Save changes with their entries; return those whose case is not at the version they name.

    An action that was saved before, a second click say, is neither saved nor returned.
    """
    known = _versions(connection, [change.case.id for change in changes])
    saved_before = _action_ids(connection, [change.entry.action_id for change in changes])
    new = [change for change in changes if change.entry.action_id not in saved_before]
    fitting = [change for change in new if known.get(change.case.id, NEW)[0] == change.from_version]
    _write(connection, proposals.void(connection, fitting), known)
    return tuple(change for change in new if known.get(change.case.id, NEW)[0] != change.from_version)


def _versions(connection: Connection, ids: Sequence[CaseId]) -> dict[CaseId, tuple[int, str]]:
    """Return version and head of each case that exists, locked until the transaction ends."""
    known = {}
    for chunk in chunks(sorted(ids)):  # In one order everywhere: two writers must not wait for each other.
        query = select(cases.c.id, cases.c.version, cases.c.head).where(cases.c.id.in_(chunk))
        for row in connection.execute(query.order_by(cases.c.id).with_for_update()):
            known[CaseId(row.id)] = (row.version, row.head)
    return known


def _write(
    connection: Connection, changes: Sequence[Change], known: Mapping[CaseId, tuple[int, str]]
) -> None:
    links: list[dict[str, Any]] = []
    fresh: list[dict[str, Any]] = []
    moved: list[dict[str, Any]] = []
    for change in changes:
        version, head = known.get(change.case.id, NEW)
        assert change.case.version == change.entry.version == version + 1, f"{change.case.id} skips a version"
        assert change.case.state is change.entry.to_state, f"{change.case.id}: its entry tells another state"
        link = chains.link(entry_row(change.entry), head)
        links.append(link)
        (moved if version else fresh).append(case_row(change.case) | {"head": link["hash"]})
    if fresh:
        connection.execute(insert(connection, cases), fresh)
    if moved:
        columns = [name for name in moved[0] if name not in {"id", "account", "subject", "opened_at"}]
        found = connection.execute(
            update(cases)
            .where(cases.c.id == bindparam("of_id"), cases.c.version == bindparam("to_version") - 1)
            .values({name: bindparam(f"to_{name}") for name in columns}),
            [{"of_id": row["id"]} | {f"to_{name}": row[name] for name in columns} for row in moved],
        )
        assert found.rowcount == len(moved), f"expected {len(moved)} locked cases, found {found.rowcount}"
    if links:
        connection.execute(insert(connection, tables.entries), links)
        seals.add(connection, links)
        _name_refunds(connection, [change.case for change in changes], [row["id"] for row in moved])


def _name_refunds(connection: Connection, changed: Sequence[Case], known: Sequence[CaseId]) -> None:
    """Put the refunds of the cases' evidence in the place of what stood there for those that were known."""
    table = tables.case_refunds
    for chunk in chunks(known):
        connection.execute(delete(table).where(table.c.case_id.in_(chunk)))
    rows = [
        {"case_id": case.id, "refund_id": refund_id}
        for case in changed
        for refund_id in dict.fromkeys(case.mismatch.refund_ids)
    ]
    if rows:
        connection.execute(insert(connection, table), rows)


def _saved_as(connection: Connection, action_id: str) -> tuple[str, str, str] | None:
    """Return the case, the action and the actor that were saved with this id; None where none was."""
    columns = tables.entries.c
    query = select(columns.topic, columns.action, columns.actor).where(columns.action_id == action_id)
    found = connection.execute(query).one_or_none()
    return None if found is None else (found.topic, found.action, found.actor)


def _action_ids(connection: Connection, ids: Sequence[str]) -> set[str]:
    column = tables.entries.c.action_id
    return {
        found
        for chunk in chunks(ids)
        for found in connection.scalars(select(column).where(column.in_(chunk)))
    }


def _heal(connection: Connection, heal: Healable, run: Run) -> bool:
    """Finish an intent if it is still unsettled and its refund still proves it."""
    of_refund = (refunds.c.account == heal.account) & (refunds.c.id == heal.refund_id)
    same_money = (refunds.c.amount_minor == intents.c.amount_minor) & (
        refunds.c.currency == intents.c.currency
    )
    # What a person says of it, meanwhile too, comes before every other tie.
    linked = refunds.c.operator_key == heal.intent_key
    if heal.basis is not Basis.OPERATOR:
        linked |= refunds.c.operator_key.is_(None)
    proof = exists().where(of_refund, same_money, linked, refunds.c.status.not_in(DEAD))
    found = connection.execute(
        update(intents)
        .where(intents.c.account == heal.account, intents.c.key == heal.intent_key, proof)
        .where(intents.c.status.in_(UNSETTLED), intents.c.mapped.is_(false()))
        .values(status=IntentStatus.DONE, refund_id=heal.refund_id, updated_at=run.as_of)
    )
    return found.rowcount == 1


def _still_true(notices: Sequence[Notice], moved: Sequence[Change], anew: Anew | None) -> Sequence[Notice]:
    """Return what is said of cases as they were saved, or of none at all."""
    if moved and anew is not None:
        return anew(moved)
    not_saved = {change.case.id for change in moved}
    return [each for each in notices if not each.case_ids or not not_saved.issuperset(each.case_ids)]


def _replace_due(
    connection: Connection, saving: Saving, not_healed: Sequence[Healable], moved: Sequence[Change]
) -> None:
    due, as_of = tables.due, saving.run.as_of
    if saving.run.full:
        connection.execute(delete(due))
    else:
        pairs = tuple_(due.c.account, due.c.subject)
        for chunk in chunks(saving.judged):
            connection.execute(delete(due).where(pairs.in_(chunk)))
    times = {(each.account, each.subject): each.at for each in saving.due}
    becomes = {(each.account, each.subject): each.becomes for each in saving.due}
    again = [(heal.account, subjects.of_intent(heal.intent_key)) for heal in not_healed]
    # A case that moved is planned again at once; should that not come to pass, the next run must see it.
    again += [(change.case.account, change.case.subject) for change in moved]
    times |= dict.fromkeys([*saving.withheld, *again], as_of)
    rows = [
        {"account": pair[0], "subject": pair[1], "at": at, "becomes": becomes.get(pair)}
        for pair, at in sorted(times.items())
    ]
    upsert(connection, due, rows)
