"""What `recon owners` prints for programs: plain values, every key always there."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from recon.model import phrases
from recon.model.records.cases import Owner
from recon.model.records.owners import Profile, Step
from recon.model.records.remarks import Remark

if TYPE_CHECKING:
    from recon.assigning import Applied, Entitled, Explanation, Survey, Tried


def of_survey(survey: "Survey", asked: Sequence[Remark], notes: Sequence[str]) -> dict[str, object]:
    """Return the rules in force as plain values; every key is always there."""
    return {
        "judged_at": _iso(survey.judged_at),
        "rules": [_entitled(each, survey) | {"unowned": each.why} for each in survey.rules],
        "severities": [_entitled(each, survey) for each in survey.severities],
        "caught_by_the_first": [
            {"account": account, "team": team or None, "open": number}
            for (account, team), number in sorted(survey.caught.items())
        ],
        "given_by_hand": survey.pinned,
        "would_move": survey.moves,
        "owners": [_profile(each) for each in survey.owners],
        "remarks": [
            {
                "section": str(each.section),
                "level": str(each.level),
                "found": each.found,
                "todo": each.todo or None,
            }
            for each in (*survey.remarks, *asked)
        ],
        "not_looked_at": list(notes),
    }


def _entitled(rule: "Entitled", survey: "Survey") -> dict[str, object]:
    return {
        "name": rule.name,
        "says": rule.says,
        "target": rule.target or None,
        "asks": dict(rule.asks),
        "open": rule.wins if survey.judged_at is not None else None,
    }


def _profile(owner: Profile) -> dict[str, object]:
    return {
        "name": owner.name,
        "target": owner.target,
        "group": owner.group,
        "zone": str(owner.zone),
        "quiet_hours": None if owner.rest is None else "-".join(f"{at:%H:%M}" for at in owner.rest),
        "digest_at": None if owner.digest_at is None else f"{owner.digest_at:%H:%M}",
        "escalation": [
            {
                "after_minutes": _minutes(step),
                "owner": step.owner,
                "target": step.target,
            }
            for step in owner.steps
        ],
    }


def of_explanation(found: "Explanation") -> dict[str, object]:
    """Return why a case is whose it is as plain values; every key is always there."""
    case = found.case
    return {
        "case": case.id,
        "account": case.account,
        "subject": case.subject,
        "kind": str(case.mismatch.kind),
        "state": str(case.state),
        "severity": str(case.severity),
        "owner": _named(case.owner),
        "given_by_hand_by": found.pinned_by,
        "judged_at": _iso(found.judged_at),
        "by_the_rules": {"owner": _named(found.owner), "severity": str(found.severity)},
        "rules": [_attempt(each) for each in found.rules],
        "severities": [_attempt(each) for each in found.severities],
        "next_message": None
        if found.profile is None
        else {
            "target": found.profile.target,
            "group": found.profile.group,
            "not_before": _iso(found.awake_at),
            "quiet": found.resting,
        },
        "owner_told_at": _iso(found.told_at),
        "snoozed_until": _iso(case.snoozed_until),
        "escalation": [
            {
                "owner": step.owner,
                "target": step.target,
                "after_minutes": _minutes(step),
                "at": _iso(found.told_at + step.after) if found.told_at is not None else None,
            }
            for step in (found.profile.steps if found.profile is not None else ())
        ],
    }


def _named(owner: Owner | None) -> dict[str, str] | None:
    return None if owner is None else {"name": owner.name, "target": owner.target, "rule": owner.rule}


def _attempt(tried: "Tried") -> dict[str, object]:
    unfit = tried.unfit
    return {
        "name": tried.name,
        "says": tried.says,
        "fits": unfit is None,
        "wins": tried.wins,
        "why_not": None
        if unfit is None
        else {"matcher": unfit.matcher, "found": unfit.found, "asked": unfit.asked},
    }


def of_applied(applied: "Applied") -> dict[str, object]:
    """Return what moved as plain values; every key is always there."""
    return {
        "dry_run": applied.dry,
        "judged_at": _iso(applied.judged_at),
        "open": len(applied.was),
        "given_by_hand": applied.pinned,
        "moved_meanwhile": applied.moved,
        "changes": [
            {
                "case": change.case.id,
                "from": _named(applied.was[change.case.id].owner),
                "to": _named(change.case.owner),
                "severity_was": str(applied.was[change.case.id].severity),
                "severity": str(change.case.severity),
                "reason": change.entry.reason,
            }
            for change in applied.changes
        ],
        "notices": [
            {
                "verb": each.verb,
                "target": each.target,
                "text": each.message.text,
                "cases": list(each.case_ids),
            }
            for each in applied.notices
        ],
    }


def _minutes(step: Step) -> int:
    return int(step.after.total_seconds()) // 60


def _iso(at: datetime | None) -> str | None:
    return phrases.iso(at) if at is not None else None
