"""The owners: the rules in force with their cases, who answers what and when, and a case tried against them.

Rules are read anew each time, as a run would read them now.
"""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from typing import Final

import streamlit as st

from dashboard import grids, links, overviews, panels, safe, session, tables, times, words
from recon import assigning
from recon.assigning import Entitled, Explanation, Survey, Tried
from recon.model import conditions, phrases
from recon.model.errors import Report
from recon.model.records.cases import BY_HAND
from recon.model.records.owners import Profile, is_group
from recon.model.records.remarks import Level
from recon.overview import Overview

ID_LIMIT: Final = 40  # Characters: an id has twelve; whatever is pasted around it is cut.
RULE_COLUMNS: Final = ("Rule", "Asks for", "Owner", "Told in", "Waiting cases")
OWNER_COLUMNS: Final = ("Owner", "Told in", "Mentions", "Zone", "Rests", "Digest", "If nobody answers")
TRIED_COLUMNS: Final = ("Rule", "Says", "Fits", "Why not")
LEVEL_COLUMNS: Final = ("Severity", "Fits", "Why not")


def main() -> None:
    """Show the rules, the owners, and how one case fares under the rules."""
    books, zone = overviews.overview(), session.zone()
    st.title("Owners", anchor=False)
    survey = assigning.survey(books.settings(), None)
    _remarks(survey)
    listed = grids.as_list()
    with st.container(border=True):
        _try(books, zone, listed=listed)
    with st.container(border=True):
        _rules(survey, books.held(), listed=listed)
    with st.container(border=True):
        _owners(survey.owners, listed=listed)


def _remarks(survey: Survey) -> None:
    """Show what is wrong with the rules, and what to do; or that nothing is."""
    wrong = [each for each in survey.remarks if each.level is not Level.OK]
    for remark in wrong:
        failure = remark.level is Level.FAILURE
        panels.note(
            "To put right",
            f"{remark.found} {remark.todo}".strip(),
            tone="red" if failure else "orange",
            icon=":material/error:" if failure else ":material/warning:",
        )
    if not wrong:
        st.success("Nothing looks wrong in owners.toml.", icon=":material/check_circle:")


def _rules(survey: Survey, held: Mapping[str, int], *, listed: bool) -> None:
    """Show every rule in its order, with the waiting cases that it gave to their owner."""
    st.header("Rules in force", anchor=False)
    st.caption("In their order: of all that fit a case, the last wins. The first fits everything.")
    rows = [_rule(at, rule, held) for at, rule in enumerate(survey.rules, start=1)]
    alt = f"{len(rows)} rules in their order, with what each asks for, its owner and its waiting cases."
    grids.show(rows, RULE_COLUMNS, alt=alt, listed=listed)
    for sentence in _elsewhere(survey, held):
        st.text(safe.text(sentence))
    st.subheader("Severities", anchor=False)
    st.caption("In the same way: of all that fit a case, the last wins.")
    levels = [
        (f"{at}. {each.says.capitalize()}", conditions.sentence(each.asks))
        for at, each in enumerate(survey.severities, start=1)
    ]
    grids.show(levels, ("Severity", "Asks for"), alt="Severities in order.", listed=listed)


def _rule(at: int, rule: Entitled, held: Mapping[str, int]) -> tuple[object, ...]:
    says = rule.says if rule.why is None else f"{rule.says}: {rule.why}"
    target = _told_in(rule.target) if rule.target else ""
    return (f"{at}. {rule.name}", conditions.sentence(rule.asks), says, target, f"{held.get(rule.name, 0):,}")


def _elsewhere(survey: Survey, held: Mapping[str, int]) -> list[str]:
    """Return whose the other waiting cases are: people's by hand, of rules that are gone, and nobody's."""
    names = {rule.name for rule in survey.rules}
    by_hand = sum(number for rule, number in held.items() if rule.startswith(BY_HAND) and rule not in names)
    found = (
        [f"{phrases.several(by_hand, 'waiting case')} a person gave to somebody by hand."] if by_hand else []
    )
    for rule, number in held.items():
        if not rule:
            found.append(
                f"{phrases.several(number, 'waiting case')} of nobody yet: the next run finds an owner."
            )
        elif rule not in names and not rule.startswith(BY_HAND):
            found.append(
                f"{phrases.several(number, 'waiting case')} by the rule {rule!r}, which is gone: the next "
                "run, or recon owners apply, gives them to somebody."
            )
    return found


def _owners(owners: tuple[Profile, ...], *, listed: bool) -> None:
    """Show where each owner reads, when they rest, and who is asked after them."""
    st.header("Who answers", anchor=False)
    rows = [_owner(each) for each in owners]
    alt = f"{len(rows)} owners, with where and when they are told, and who is asked after them."
    grids.show(rows, OWNER_COLUMNS, alt=alt, listed=listed)


def _owner(owner: Profile) -> tuple[object, ...]:
    rest = (
        "never" if owner.rest is None else f"{owner.rest[0]:%H:%M} to {owner.rest[1]:%H:%M}, but for critical"
    )
    return (
        owner.name,
        _told_in(owner.target),
        owner.group if owner.group != owner.target else None,
        str(owner.zone),
        rest,
        "none" if owner.digest_at is None else f"{owner.digest_at:%H:%M}",
        "; ".join(f"after {times.span(step.after)} {step.owner} in {step.target}" for step in owner.steps)
        or "nobody else is asked",
    )


def _told_in(target: str) -> str:
    return f"{target} (user group, in the operators' channel)" if is_group(target) else target


def _try(books: Overview, zone: tzinfo, *, listed: bool) -> None:
    """Ask for a case, and show which rule wins it and why the others do not."""
    st.header("Try a case", anchor=False)
    named = next(iter(links.chosen("case")), "")
    with st.form("try", border=False):
        typed = st.text_input(
            "Case id",
            value=named[:ID_LIMIT],
            max_chars=ID_LIMIT,
            placeholder="C-…",
            help="As in a message or the queue.",
        )
        if st.form_submit_button("Try it", icon=":material/rule:"):
            named = typed.strip()
            links.choose("case", (named,) if named else ())
    if not named:
        return
    try:
        found = assigning.explain(books.database, books.settings(), named, now=books.now())
    except Report as unknown:  # Somebody mistyped it, or it is of another database.
        panels.note("No such case", str(unknown), tone="orange", icon=":material/search_off:")
        return
    _explained(found, zone, listed=listed)


def _explained(found: Explanation, zone: tzinfo, *, listed: bool) -> None:
    case = found.case
    kind, amount = tables.kind(case), tables.money(case.mismatch.at_risk)
    st.page_link(
        "views/case.py",
        label=f"{kind}, {amount}",
        icon=":material/description:",
        query_params={"case": case.id},
    )
    with st.container(gap="xxsmall"):
        for sentence in (*_whose(found), *_next(found, zone)):
            st.text(safe.text(sentence))
    rules = [(f"{at}. {each.name}", each.says, *_fits(each)) for at, each in enumerate(found.rules, start=1)]
    alt = f"{len(rules)} rules tried on the case: which fits, which wins, and why the others do not."
    grids.show(rules, TRIED_COLUMNS, alt=alt, listed=listed)
    levels = [
        (f"{at}. {each.says.capitalize()}", *_fits(each)) for at, each in enumerate(found.severities, start=1)
    ]
    grids.show(levels, LEVEL_COLUMNS, alt="Severities tried on the case.", listed=listed)
    st.caption(f"Ages are counted to {times.moment(found.judged_at, zone)}, when the latest run judged.")


def _fits(tried: Tried) -> tuple[str, str]:
    """Return whether a rule fits the case, and why it does not decide."""
    fits = "wins" if tried.wins else "yes" if tried.unfit is None else "no"
    if tried.unfit is not None:
        unfit = tried.unfit
        why = f"{conditions.matcher(unfit.matcher)} is {unfit.found}, not {unfit.asked}"
    else:
        why = "" if tried.wins else "a later rule fits as well"
    return (fits, why)


def _whose(found: Explanation) -> list[str]:
    """Return whose the case is, by what, and whether the rules say otherwise."""
    case = found.case
    wins = next(each for each in found.rules if each.wins)
    told = [f"Its owner is {tables.owner(case)}, its severity {words.SEVERITIES[case.severity].lower()}."]
    told.append(
        f"By the rules it belongs to {found.owner.name}, because {wins.name!r} is the last that fits."
    )
    if found.pinned_by is not None:
        told.append(f"{found.pinned_by} gave it to its owner by hand, and rules leave it there.")
    elif found.decided:
        told.append(f"It is {case.state}: whatever the rules say, it keeps its owner until it opens again.")
    elif case.owner != found.owner or case.severity is not found.severity:
        told.append(
            f"The next run, or recon owners apply, gives it to {found.owner.name} with severity "
            f"{found.severity}."
        )
    return told


def _next(found: Explanation, zone: tzinfo) -> list[str]:
    """Return where the next message goes and when, and who is asked when nobody answers."""
    owner = found.profile
    if owner is None or found.awake_at is None:
        return [f"Nobody is told: {'it is decided' if found.decided else 'it has no owner to tell'}."]
    quiet = (
        f", not before {times.moment(found.awake_at, zone)}, when quiet hours end" if found.resting else ""
    )
    told = [f"The next message goes to {_told_in(owner.target)}{quiet}."]
    if found.case.snoozed_until is not None:
        told.append(
            f"It sleeps until {times.moment(found.case.snoozed_until, zone)}, unless its evidence changes."
        )
    if owner.steps:
        steps = "; ".join(
            f"{step.owner} in {step.target} {_at(found, step.after, zone)}" for step in owner.steps
        )
        told.append(f"If nobody answers: {steps}.")
    return told


def _at(found: Explanation, after: timedelta, zone: tzinfo) -> str:
    if found.told_at is None:
        return f"{times.span(after)} after its owner is told"
    return f"at {times.moment(found.told_at + after, zone)}"


main()
