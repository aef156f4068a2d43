"""Cases, entries and notices as rows, and rows as what they were. Never reads or writes one."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, TypeVar

from recon.model.records.cases import Case, Entry, Owner
from recon.model.records.notices import Message, Notice
from recon.model.records.queues import WAITING
from recon.model.records.results import Mismatch, Money, Reject
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseId,
    CaseState,
    Certainty,
    Direction,
    Finding,
    IntentKey,
    Kind,
    NoticeState,
    RefundId,
    Resolution,
    RunId,
    Severity,
    Subject,
)
from recon.model.stored import instant, microseconds
from recon.model.tables import notices

Word = TypeVar("Word", bound=StrEnum)

RANKS = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2, Severity.CRITICAL: 3}
SEVERITIES = {rank: severity for severity, rank in RANKS.items()}
# Where the rows that a run reads come from, as rejects name it.
INTENTS, REFUNDS = "intents", "refunds"
# dataclasses.asdict copies every value deeply, which is most of the time that ten thousand cases take.
EVIDENCE = tuple(field.name for field in fields(Mismatch))
NOTICE_COLUMNS = tuple(
    column.name for column in notices.c if column.name not in {"id", "message", "case_ids"}
)


def case_row(case: Case) -> dict[str, Any]:
    """Return every column of a case but its head."""
    mismatch, owner = case.mismatch, case.owner
    return {
        "id": case.id,
        "account": case.account,
        "subject": case.subject,
        "kind": mismatch.kind,
        "certainty": mismatch.certainty,
        "finding": mismatch.finding,
        "state": case.state,
        "version": case.version,
        "waiting": case.state in WAITING,
        "rank": RANKS[case.severity],
        "owner_name": owner and owner.name,
        "owner_target": owner and owner.target,
        "owner_rule": owner and owner.rule,
        "pinned": case.pinned,
        "snoozed_until": case.snoozed_until,
        "accepted_until": case.accepted_until,
        "at_risk_minor": mismatch.at_risk.amount_minor,
        "currency": mismatch.at_risk.currency,
        "since": mismatch.since,
        "opened_at": case.opened_at,
        "updated_at": case.updated_at,
        "intent_key": mismatch.intent_key,
        "order_id": mismatch.order_id,
        "customer_id": mismatch.customer_id,
        "payment": mismatch.payment,
        "tool": mismatch.tool,
        "team": mismatch.team,
        "decided_fence": case.decided_fence,
        "decided_at": case.decided_at,
        "resolution": case.resolution,
        "mismatch": mismatch_document(mismatch),
    }


def case_record(row: Mapping[Any, Any]) -> Case:
    """Return the case of a row."""
    owner = None
    if row["owner_name"] is not None:
        owner = Owner(row["owner_name"], row["owner_target"], row["owner_rule"])
    return Case(
        id=CaseId(row["id"]),
        account=AccountId(row["account"]),
        subject=Subject(row["subject"]),
        mismatch=mismatch_record(row["mismatch"]),
        state=CaseState(row["state"]),
        version=row["version"],
        severity=SEVERITIES[row["rank"]],
        owner=owner,
        opened_at=row["opened_at"],
        updated_at=row["updated_at"],
        pinned=row["pinned"],
        snoozed_until=row["snoozed_until"],
        accepted_until=row["accepted_until"],
        decided_fence=row["decided_fence"],
        decided_at=row["decided_at"],
        resolution=_word(Resolution, row["resolution"]),
    )


def mismatch_document(mismatch: Mismatch) -> dict[str, Any]:
    """Return a mismatch as JSON has it."""
    at_risk = {"amount_minor": mismatch.at_risk.amount_minor, "currency": mismatch.at_risk.currency}
    plain = {name: getattr(mismatch, name) for name in EVIDENCE}
    return plain | {"at_risk": at_risk, "since": microseconds(mismatch.since)}


def mismatch_record(document: Mapping[str, Any]) -> Mismatch:
    """Return the mismatch of a document."""
    return Mismatch(
        kind=Kind(document["kind"]),
        certainty=Certainty(document["certainty"]),
        account=AccountId(document["account"]),
        subject=Subject(document["subject"]),
        at_risk=Money(**document["at_risk"]),
        since=instant(document["since"]),
        why=document["why"],
        finding=_word(Finding, document["finding"]),
        intent_key=None if document["intent_key"] is None else IntentKey(document["intent_key"]),
        order_id=document["order_id"],
        customer_id=document["customer_id"],
        tool=document["tool"],
        team=document["team"],
        payment=document["payment"],
        refund_ids=tuple(map(RefundId, document["refund_ids"])),
        extra_refund_ids=tuple(map(RefundId, document["extra_refund_ids"])),
        direction=_word(Direction, document["direction"]),
        diagnosis=document["diagnosis"],
        reason=document["reason"],
    )


def entry_row(entry: Entry) -> dict[str, Any]:
    """Return every column of an entry but its hashes."""
    return {
        "topic": entry.case_id,
        "version": entry.version,
        "action": entry.action,
        "actor": entry.actor,
        "at": entry.at,
        "reason": entry.reason,
        "from_state": entry.from_state,
        "to_state": entry.to_state,
        "action_id": entry.action_id,
        "run_id": entry.run_id,
        "resolution": entry.resolution,
    }


def entry_record(row: Mapping[Any, Any]) -> Entry:
    """Return the entry of a row."""
    return Entry(
        case_id=CaseId(row["topic"]),
        action=Action(row["action"]),
        actor=Actor(row["actor"]),
        at=row["at"],
        reason=row["reason"],
        from_state=_word(CaseState, row["from_state"]),
        to_state=CaseState(row["to_state"]),
        version=row["version"],
        action_id=row["action_id"],
        run_id=None if row["run_id"] is None else RunId(row["run_id"]),
        resolution=_word(Resolution, row["resolution"]),
    )


def notice_row(notice: Notice) -> dict[str, Any]:
    """Return every column of a notice but its id, which the database gives."""
    message = {"text": notice.message.text, "blocks": list(notice.message.blocks)}
    plain = {name: getattr(notice, name) for name in NOTICE_COLUMNS}
    return plain | {"message": message, "case_ids": list(notice.case_ids)}


def notice_record(row: Mapping[Any, Any]) -> Notice:
    """Return the notice of a row."""
    plain = {name: row[name] for name in NOTICE_COLUMNS}
    message = row["message"]
    return Notice(
        **plain
        | {
            "id": row["id"],
            "state": NoticeState(row["state"]),
            "message": Message(message["text"], tuple(message["blocks"])),
            "case_ids": tuple(map(CaseId, row["case_ids"])),
        }
    )


def reject_row(reject: Reject) -> dict[str, Any]:
    """Return every column of a reject but its number, which the database gives."""
    told = asdict(reject) | {"names": list(reject.names)}
    del told["payments"]  # Only of use beside the rows that were read with it.
    return told


def reject_record(row: Mapping[Any, Any]) -> Reject:
    """Return the reject of a row."""
    return Reject(
        source=row["source"],
        row=row["row"],
        id=row["id"],
        reason=row["reason"],
        account=AccountId(row["account"]),
        names=tuple(row["names"]),
    )


def _word(vocabulary: type[Word], value: str | None) -> Word | None:
    return None if value is None else vocabulary(value)
