"""One incident: who was affected by mismatches of one kind that began in a window, when, and for how much.

Opens at the densest burst of the latest day. The window and the kind stand in the address, so that a link
shows what its sender saw.
"""

from datetime import UTC, datetime, tzinfo
from typing import Final

import streamlit as st

from dashboard import asked, figures, grids, incidents, links, safe, session, tables, times, words
from recon.model import phrases
from recon.model.records.incidents import Bar, Incident, Window
from recon.model.records.words import Kind
from recon.rules import incidents as rules

LATEST: Final = "latest-window"  # In this tab's session: the window that nobody asked for.
CHART_PIXELS: Final = 230
CALLS_PIXELS: Final = 130


def main() -> None:
    """Show the incident that the address names, else the latest."""
    desk, zone = session.incidents(), session.zone()
    kind, named = incidents.kind(), incidents.window()
    window = named or desk.latest(kind)
    if named is None and window is not None:
        st.session_state[LATEST] = window
        _remember(kind, window)
    if window is None:
        st.title("Incident", anchor=False)
        _choose(kind, Window(session.desk().now() - incidents.DAY, session.desk().now()), zone)
        st.info(f"No case was ever opened for this: {words.KINDS[kind].lower()}.", icon=":material/info:")
        return
    found = desk.incident(kind, window)
    _headline(found, zone, latest=st.session_state.get(LATEST) == window)
    if not found.totals.cases:
        st.info("Nothing of this kind began in this window.", icon=":material/check_circle:")
        _choose(kind, window, zone)
        return
    _numbers(found)
    with st.expander("Another window or kind"):
        _choose(kind, window, zone)
    _affected(found, zone)
    _timeline(found, zone)
    with st.container(border=True):
        st.header("For the incident channel", anchor=False)
        st.code(rules.told(found), language=None, wrap_lines=True)
        st.caption("Counts and money only: no customer, no order. The button at its corner copies it.")


def _remember(kind: Kind, window: Window) -> None:
    """Write what is shown into the address, so that it shows the same tomorrow, and to others."""
    for name, value in incidents.address(kind, window).items():
        links.choose(name, (value,))


def _headline(found: Incident, zone: tzinfo, *, latest: bool) -> None:
    totals = found.totals
    people = phrases.several(totals.customers, "customer")
    if totals.cases and not totals.customers:
        people = phrases.several(totals.cases, "case")
    st.title(f"Incident · {words.KINDS[found.kind]} · {people}", anchor=False)
    if totals.first_at is None or totals.last_at is None:
        return
    first, last = times.exact(totals.first_at, zone), times.exact(totals.last_at, zone)
    how = " The densest burst of the latest day; choose another window below." if latest else ""
    st.text(f"From {first} to {last}, {rules.covered(found)}.{how}")


def _choose(kind: Kind, window: Window, zone: tzinfo) -> None:
    """Ask for another window or kind; a choice is written into the address."""
    shown = f"{kind}-{window.from_at.timestamp()}-{window.to_at.timestamp()}"
    with (
        st.form("window", border=False),
        st.grid(4, min_column_width=190, gap="small", vertical_alignment="bottom") as grid,
    ):
        with grid.cell():
            picked: Kind | None = st.selectbox(
                "Kind",
                list(Kind),
                index=list(Kind).index(kind),
                format_func=words.KINDS.__getitem__,
                key=f"kind-{shown}",
            )
        with grid.cell():
            first = _moment("Began from", window.from_at, zone, key=f"from-{shown}")
        with grid.cell():
            last = _moment("Began before", window.to_at, zone, key=f"to-{shown}")
        with grid.cell():
            pressed = st.form_submit_button("Show", icon=":material/search:", width="stretch")
    if not pressed or picked is None:
        return
    chosen = incidents.between(first, last)
    if chosen is None:
        st.warning("Choose a window whose end is after its beginning.", icon=":material/edit:")
        return
    _remember(picked, chosen)
    if chosen == window == st.session_state.get(LATEST):
        # Another kind has a latest burst of its own; a window that was asked for stands for any kind.
        links.choose("from", ())
    st.rerun()


def _moment(label: str, at: datetime, zone: tzinfo, *, key: str) -> datetime:
    """Return the minute that was chosen, in UTC; it is shown and typed in the viewer's zone."""
    there = at.astimezone(zone).replace(tzinfo=None)
    named = times.zone_name(at, zone)
    typed = st.datetime_input(f"{label} ({named})", value=there, step=60, format="YYYY-MM-DD", key=key)
    return typed.replace(tzinfo=zone).astimezone(UTC)


def _numbers(found: Incident) -> None:
    totals = found.totals
    extra = len(rules.extras(found))
    figures.show(
        [
            *figures.money("At risk", totals.at_risk),
            ("Customers", f"{totals.customers:,}"),
            ("Orders", f"{totals.orders:,}"),
            *([("Extra refunds", f"{extra:,}")] if extra else []),
            ("From first to last", rules.covered(found)),
        ]
    )


def _stand(found: Incident) -> str:
    """Return how many cases there are and where they stand."""
    totals = found.totals
    counts, without = totals.states.items(), totals.without_customer
    states = ", ".join(f"{number:,} {words.STATES[state].lower()}" for state, number in counts if number)
    unnamed = f" {phrases.several(without, 'case')} without a customer." if without else ""
    return f"{phrases.several(totals.cases, 'case')}: {states}.{unnamed}"


def _timeline(found: Incident, zone: tzinfo) -> None:
    """Show refunds and calls by minute, and the same as a table."""
    bars, step = rules.timeline(found), rules.step(found.window)
    with st.container(border=True):
        st.header(f"Refunds by {_unit(bars)}", anchor=False)
        if not any(bar.standing or bar.extra or bar.sent or bar.decided for bar in bars):
            st.caption("No refund and no call of these cases lies in this window.")
            return
        drawn, read = st.columns([3, 2], gap="medium")
        frame, named = incidents.minutes(bars, step, zone), times.zone_name(found.window.from_at, zone)
        with drawn:
            st.vega_lite_chart(
                frame,
                incidents.chart([incidents.STANDING, incidents.EXTRA], title="Refunds", zone_name=named),
                height=CHART_PIXELS,
                alt=f"Refunds over time, {_said(bars)}. The table beside it has every number.",
            )
            if any(bar.sent for bar in bars):
                st.vega_lite_chart(
                    frame,
                    incidents.chart([incidents.SENT], title="Calls sent", zone_name=named),
                    height=CALLS_PIXELS,
                    alt="Calls first sent over time. The table beside it has every number.",
                )
        with read:
            st.table(incidents.counted(bars, step, zone), hide_index=True, height=CHART_PIXELS + CALLS_PIXELS)
        outside = len(found.refunds) - sum(bar.standing + bar.extra for bar in bars)
        if outside > 0:
            st.caption(f"{phrases.several(outside, 'refund')} of these cases went out before or after.")


def _unit(bars: tuple[Bar, ...]) -> str:
    length = bars[1].at - bars[0].at if len(bars) > 1 else incidents.HOUR / 60
    return "minute" if length <= incidents.HOUR / 60 else times.span(length)


def _said(bars: tuple[Bar, ...]) -> str:
    stand, extra = sum(bar.standing for bar in bars), sum(bar.extra for bar in bars)
    return f"{stand} that should stand and {extra} extra"


def _affected(found: Incident, zone: tzinfo) -> None:
    """Show who was affected, as a grid or as a plain list, each with a link to its case."""
    number, every = len(found.cases), found.totals.cases
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("Who was affected", anchor=False, width="content")
            grids.view()
        if number < every:
            st.caption(f"The first {number:,} of {every:,} cases; choose a shorter window for the others.")
        if asked.as_list():
            _list(found, zone)
        else:
            _grid(found, zone)
        st.caption(f"{_stand(found)}{'' if asked.as_list() else ' Tick a row to open its case.'}")
        st.download_button(
            "Export as CSV",
            incidents.export(found.cases),
            file_name=f"incident-{found.kind}-{found.window.from_at:%Y%m%d-%H%M}.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )


def _grid(found: Incident, zone: tzinfo) -> None:
    now = session.desk().now()
    named = times.zone_name(found.window.from_at, zone)
    config = st.column_config
    # Both refunds have to be read where there are two; where a case stands is summed up below the grid.
    folded = ("State", "Owner", "Case") if rules.extras(found) else (incidents.EXTRA, "Case")
    chosen = st.dataframe(
        incidents.cases(found.cases, now, zone),
        hide_index=True,
        height=grids.height(len(found.cases)),
        on_select="rerun",
        selection_mode="single-row",
        key=f"affected-{hash((found.kind, found.window, found.cases))}",
        column_config={
            "Customer": config.TextColumn(width=164),
            "Order": config.TextColumn(width=84),
            "At risk": config.TextColumn(width=112, alignment="right"),
            "Began": config.TextColumn(f"Began ({named})", width=112),
            incidents.STANDING: config.TextColumn(width=238),
            incidents.EXTRA: config.TextColumn(width=238),
            "State": config.TextColumn(width=112),
            "Owner": config.TextColumn(width=128),
            **dict.fromkeys(folded),
        },
        alt=f"{len(found.cases)} cases, in the order in which they began. As links: choose List.",
    )
    if chosen.selection.rows:
        st.switch_page("views/case.py", query_params={"case": found.cases[chosen.selection.rows[0]].id})


def _list(found: Incident, zone: tzinfo) -> None:
    for case in found.cases:
        with st.container(gap="xxsmall"):
            st.page_link(
                "views/case.py",
                label=f"**{tables.money(case.mismatch.at_risk)} · {words.STATES[case.state]}**",
                query_params={"case": case.id},
            )
            named = [each for each in (case.mismatch.customer_id, case.mismatch.order_id) if each]
            st.text(safe.line(" · ".join([*named, tables.owner(case)])))
            extra = ", ".join(case.mismatch.extra_refund_ids) or safe.ABSENT
            stand = ", ".join(incidents.stands(case)) or safe.ABSENT
            st.text(safe.text(f"should stand: {stand}; extra: {extra}"))
            st.caption(f"{case.id} · began {times.exact(case.mismatch.since, zone)}")


main()
