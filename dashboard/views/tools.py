"""The tools that agents call: what each does, its kill switch, and whether its calls are odd now.

What is thrown or lifted here goes through the switchboard, which looks at who may.
"""

from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

import streamlit as st

from dashboard import gauges, grids, incidents, levers, links, panels, safe, session, times
from recon.model import bursts, phrases
from recon.model.records.tools import Activity, Burst, Effect, Switch, Tool
from recon.switchboard import Switchboard

CHART_PIXELS: Final = 250
NONE: Final = Activity()


def main() -> None:
    """Show every tool, the one that the address names first."""
    board, zone = levers.board(), session.zone()
    st.title("Tools", anchor=False)
    said = st.session_state.pop("said", None)
    if said:
        st.success(said, icon=":material/check:")
    declared, stands, activity = board.registry(), board.every(), board.activity()
    if not stands and not activity:
        st.info("No tool is declared: tools.toml says how.", icon=":material/info:")
        return
    listed = grids.as_list()
    for name in _in_order(stands, activity):
        with st.container(border=True):
            switch, seen = stands.get(name, Switch(name)), activity.get(name, NONE)
            _tool(board, declared.get(name), switch, seen, zone, listed=listed)


def _in_order(stands: Mapping[str, Switch], activity: Mapping[str, Activity]) -> list[str]:
    """Return the tools' names: who was asked for, what is off, what is odd, then as they are declared."""
    asked = next(iter(links.chosen("tool")), "")
    names = list(dict.fromkeys([*stands, *activity]))

    def pressing(name: str) -> tuple[bool, bool, bool]:
        off = name in stands and stands[name].thrown
        return (name != asked, not off, activity.get(name, NONE).burst is None)

    return sorted(names, key=pressing)


def _tool(
    board: Switchboard, tool: Tool | None, switch: Switch, seen: Activity, zone: tzinfo, *, listed: bool
) -> None:
    if tool is None:
        st.header("Not declared", anchor=False)
        st.text(safe.line(switch.tool))
        st.caption("tools.toml does not name it: its calls are looked at as a refund's would be.")
    else:
        st.header(tool.name, anchor=False)  # As tools.toml takes names: nothing in it is markdown.
        st.text(safe.line(tool.title))
    acts = tool is None or tool.effect is Effect.SIDE_EFFECT or bool(switch.version)
    if acts:
        _switch(board, switch, zone)
    if seen.burst is not None:
        _burst(seen.burst, zone, listed=listed)
    if tool is not None:
        panels.facts(gauges.facts(tool), columns=3, width=220)
    if not acts:
        return
    _calls(board, switch.tool, seen, zone, listed=listed)
    with st.expander("History of its switch"):
        moves = gauges.moves(board.history(switch.tool), zone)
        if moves:
            number = phrases.several(len(moves), "move")
            grids.show(moves, gauges.MOVES, alt=f"{number}, the latest first.", listed=listed)
        else:
            st.caption("Nobody has ever moved it.")


def _switch(board: Switchboard, switch: Switch, zone: tzinfo) -> None:
    """Show how the switch stands, and the move that it allows."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if switch.thrown:
            st.badge("Off", icon=":material/power_settings_new:", color="red")
        else:
            st.badge("On", icon=":material/power:", color="green")
        levers.button(board, switch)
    if switch.thrown:
        st.text(safe.text(levers.said(switch, zone)))


def _burst(found: Burst, zone: tzinfo, *, listed: bool) -> None:
    """Show the alert that is open: what is odd about the calls."""
    since = times.moment(found.began_at, zone)
    sentence = f"{bursts.summary(found)}, since {since}. {bursts.find_out(found)}"
    panels.note("Duplicate calls", sentence, tone="red", icon=":material/notification_important:")
    rows = gauges.odd(found)
    if rows:
        grids.show(rows, gauges.ODD, alt=f"{len(rows)} of what looks odd, the largest first.", listed=listed)


def _calls(board: Switchboard, name: str, seen: Activity, zone: tzinfo, *, listed: bool) -> None:
    """Show the last hour: calls by minute, and the intents that were asked for again."""
    if not seen.minutes:
        st.caption("No call in the last hour.")
        return
    now = board.now()
    again = sum(each.again for each in seen.minutes)
    total = phrases.several(again + sum(each.first for each in seen.minutes), "call")
    st.subheader("Calls in the last hour", anchor=False)
    st.vega_lite_chart(
        gauges.minutes(seen.minutes, now, zone),
        incidents.chart(
            [gauges.FIRST, gauges.AGAIN],
            title="Calls",
            zone_name=times.zone_name(now, zone),
            colors=gauges.COLORS,
        ),
        height=CHART_PIXELS,
        key=f"calls-{name}",
        alt=f"{total} by minute, {again:,} of them for an intent asked for before. The table has each.",
    )
    with st.expander("Minute by minute"):
        rows = gauges.table(seen.minutes, zone)
        columns = (f"At ({times.zone_name(now, zone)})", gauges.FIRST, gauges.AGAIN)
        grids.show(rows, columns, alt="The minutes that have a call, the latest first.", listed=listed)
    if not seen.repeated:
        st.caption("No intent was asked for twice in the last hour.")
        return
    st.subheader("Asked for again", anchor=False)
    rows = gauges.again(seen.repeated)
    number = phrases.several(len(rows), "intent")
    grids.show(rows, gauges.AGAIN_COLUMNS, alt=f"{number}, the most often first.", listed=listed)


main()
