"""What the demo shows a person: the evening in a paragraph, what the hour found, and what comes next.

Every number in it was read back; findings.py has them. Plain text where there is no terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recon.cli.friday.evening import PATIENCE_SECONDS
from recon.model import money, wording
from recon.model.phrases import several
from recon.model.records.cases import Case
from recon.model.records.results import Money
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Kind, Severity

if TYPE_CHECKING:  # It loads everything that the hour needs; the first words are to be there at once.
    from recon.cli.friday.findings import Double, Findings, Owned, Said

_ALL_OF_A_DOUBLE = 92  # Columns that a double refund takes with its case; 80 without.
_WIDEST = 100  # Columns; a longer line is hard to read.
_STYLES = {"breaks": "bold red", "incomplete": "bold yellow"}
_INDENT = 2
_MOVED = {SwitchMove.THROWN: "switches off", SwitchMove.LIFTED: "switches on"}


def screen() -> Console:
    """Return standard output, as wide as it reads well."""
    console = Console(highlight=False)
    return Console(
        highlight=False, width=min(console.width, _WIDEST) if console.is_terminal else _WIDEST, emoji=False
    )


def begin(console: Console, friday: datetime) -> None:
    """Tell what happens on the evening."""
    _heading(console, f"Friday evening, {friday.day} {friday:%B %Y}, times in UTC")
    _paragraph(
        console,
        "The payment provider turns slow at 17:01. Support's refund tool waits "
        f"{PATIENCE_SECONDS} seconds, gives up, and is called again; and because it takes the id of the "
        "call for its idempotency key, the second call is a second refund. Around it goes an ordinary "
        "evening, with the other things that go wrong in one. At 19:00 the hourly job compares what was "
        "meant with what the provider did.",
    )


def tell(console: Console, findings: Findings) -> None:
    """Show what the hour found and whom it told."""
    _verdict(console, findings)
    _doubles(console, findings)
    _watched(console, findings)
    _others(console, findings.others)
    _at_risk(console, findings)
    _owners(console, findings.owners)
    _slack(console, findings)


def go_on(console: Console, *, dashboard: str, again: str, files: str, slack_url: str | None) -> None:
    """Say what can be done next. slack_url: None where the sandbox ends with the demo."""
    _heading(console, "What comes next")
    stale = "Open the desk on this evening, which it calls stale: no run has followed"
    if slack_url is None:
        _command(console, f"{stale}:", dashboard)
        _command(console, "See the Slack channels, and let the desk ask the provider:", again)
    else:
        _command(console, f"{stale}. Until Ctrl-C it can ask the provider:", dashboard)
        _command(console, "The Slack channels as people see them, until Ctrl-C:", slack_url)
    _command(console, "Compare two files of your own, without a database or an account:", files)
    console.print()


def _verdict(console: Console, findings: Findings) -> None:
    run = findings.run
    _heading(console, "The verdict")
    line = Text(wording.plain(run.verdict), style=_STYLES.get(run.verdict, "bold green"))
    whole = "everything was read" if all(each.complete for each in run.accounts) else "not all was read"
    said = f": {wording.VERDICTS[run.verdict]} as of {run.as_of:%H:%M}, {whole}"
    line.append(said, style="not bold default")
    console.print(Padding(line, (0, 0, 0, _INDENT), expand=False))
    counts = run.counts
    _paragraph(
        console,
        f"{counts['intents']} intents against {counts['refunds']} refunds: {counts['matched']} in agreement, "
        f"{run.opened} cases opened, {counts['in_flight']} too young to judge, {counts['declared_repeats']} "
        "repeat left alone because it says that it was meant. "
        f"{findings.unanswered} requests for a refund were left without an answer.",
    )
    if findings.healed:
        proofs = ", ".join(
            f"{number} by its {wording.plain(basis)}" for basis, number in sorted(findings.healed.items())
        )
        _paragraph(
            console,
            f"Finished by the run itself: {run.healed} intents that nobody had an answer for, each proved by "
            f"the refund that belongs to it ({proofs}). None of it moved money.",
        )


def _doubles(console: Console, findings: Findings) -> None:
    if not findings.doubles:
        _heading(console, "No customer was refunded twice")
        return
    begun, ended = findings.twice_between
    minutes, seconds = divmod(int((ended - begun).total_seconds()), 60)
    title = f"{len({each.case.mismatch.customer_id for each in findings.doubles})} customers refunded twice"
    _heading(console, f"{title}, within {minutes} min {seconds:02} s")
    tools = ", ".join(sorted({str(each.case.mismatch.tool) for each in findings.doubles}))
    _paragraph(
        console,
        f"Two keys of {tools} for one order, payment and amount. Probable until a person has looked; at risk "
        f"{_sums(each.case for each in findings.doubles)}.",
    )
    titles = ("customer", "order", "amount", "at", "refund", "case")
    shown = len(titles) if console.width >= _ALL_OF_A_DOUBLE else len(titles) - 1
    table = _table(*titles[:shown], right=(2,))
    for each in findings.doubles:
        table.add_row(*_double(each)[:shown])
    console.print(Padding(table, (0, 0, 0, _INDENT), expand=False))


def _double(double: Double) -> tuple[Text | str, ...]:
    mismatch = double.case.mismatch
    both = (double.first, double.second)
    return (
        mismatch.customer_id or "",
        mismatch.order_id or "",
        "\n".join(money.written(Money(each.amount_minor, each.currency)) for each in both),
        "\n".join(f"{each.created_at:%H:%M:%S}" for each in both),
        Text(f"{double.first.id}\n") + Text(double.second.id, style="red"),
        Text(double.case.id, style="dim"),
    )


def _watched(console: Console, findings: Findings) -> None:
    """Show when the watch on the calls spoke up, what was done, and what it would have done by itself."""
    watched, doubles = findings.watched, len(findings.doubles)
    already = several(watched.already, "customer")
    _heading(console, "What a watch on the calls did")
    lines = [
        (
            watched.told_at,
            f"duplicate-call alert in {watched.told_in}: {already} refunded twice by then",
        ),
        *(
            (each.at, f"{each.actor} {_MOVED[each.move]} {watched.tool}: {each.reason}")
            for each in watched.moves
        ),
        (findings.run.as_of, f"the hour confirms all {doubles}"),
    ]
    for at, said in lines:
        console.print(Padding(Text(f"{at:%H:%M}  {said}"), (0, 0, 0, _INDENT), expand=False))
    _paragraph(
        console,
        f"With throws = true in tools.toml the alert switches {watched.tool} off by itself, at "
        f"{watched.told_at:%H:%M}: of these {doubles}, {doubles - watched.already} come later.",
    )


def _others(console: Console, cases: Iterable[Case]) -> None:
    cases = tuple(cases)
    _heading(console, f"And {len(cases)} others, by kind")
    named = [(_kind(case), _order(case), money.written(case.mismatch.at_risk)) for case in cases]
    kind, order, at_risk = (max(map(len, column), default=0) for column in zip(*named, strict=True))
    for case, (what, whose, much) in zip(cases, named, strict=True):
        head = Text(f"{what:<{kind}}", style="bold") + Text(
            f"  {whose:<{order}}  {much:>{at_risk}}", style=""
        )
        console.print(Padding(head, (0, 0, 0, _INDENT), expand=False))
        console.print(Padding(Text(case.mismatch.why), (0, 0, 0, 2 * _INDENT), expand=False))


def _kind(case: Case) -> str:
    """Return what is wrong, with the words for it that the desk filters by."""
    mismatch = case.mismatch
    more = mismatch.finding or (mismatch.certainty if mismatch.kind is Kind.DUPLICATE else None)
    named = wording.named(mismatch.kind)
    return f"{named}, {more}" if more else named


def _order(case: Case) -> str:
    return f"order {case.mismatch.order_id}" if case.mismatch.order_id else "no order"


def _at_risk(console: Console, findings: Findings) -> None:
    _heading(console, "Money at risk, per currency")
    numbers = Counter(case.mismatch.at_risk.currency for owned in findings.owners for case in owned.cases)
    table = _table(right=(0,), columns=2)
    for currency, minor in findings.summary.at_risk.items():
        table.add_row(
            Text(money.written(Money(minor, currency)), style="bold"), several(numbers[currency], "case")
        )
    console.print(Padding(table, (0, 0, 0, _INDENT), expand=False))


def _owners(console: Console, owners: Iterable[Owned]) -> None:
    _heading(console, "Who owns what")
    table = _table("owner", "told in", "cases", "at risk", right=(3,))
    for owned in owners:
        severities = Counter(case.severity for case in owned.cases)
        table.add_row(
            Text(owned.name, style="bold"),
            owned.target,
            f"{len(owned.cases):>2}: "
            + ", ".join(f"{severities[each]} {each}" for each in Severity if severities[each]),
            _sums(owned.cases).replace(" and ", "\n"),
        )
    console.print(Padding(table, (0, 0, 0, _INDENT), expand=False))


def _slack(console: Console, findings: Findings) -> None:
    replies = sum(each.replies for each in findings.said)
    roots = several(len(findings.said), "message")
    _heading(console, f"In Slack: {roots} with {several(replies, 'reply', 'replies')}")
    if findings.undelivered:
        _paragraph(console, f"{several(findings.undelivered, 'message')} could not be delivered.")
    channels: dict[str, list[Said]] = {}
    for each in findings.said:
        channels.setdefault(each.channel, []).append(each)
    for channel, threads in channels.items():
        console.print(Padding(Text(f"#{channel}", style="bold cyan"), (0, 0, 0, _INDENT), expand=False))
        for said in threads:
            console.print(
                Padding(Text(said.text.partition(" What to do: ")[0]), (0, 0, 0, 2 * _INDENT), expand=False)
            )


def _sums(cases: Iterable[Case]) -> str:
    """Return money at risk per currency; two currencies are set side by side, never added."""
    sums: Counter[str] = Counter()
    for case in cases:
        sums[case.mismatch.at_risk.currency] += case.mismatch.at_risk.amount_minor
    return (
        " and ".join(money.written(Money(sums[each], each)) for each in sorted(sums) if sums[each])
        or "nothing"
    )


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold underline" if console.is_terminal else ""))


def _paragraph(console: Console, text: str) -> None:
    console.print(Padding(Text(text), (0, 0, 0, _INDENT), expand=False))


def _command(console: Console, what: str, command: str) -> None:
    """Print a command on a line of its own, never wrapped: it is there to be copied."""
    _paragraph(console, what)
    console.print(Text(f"{' ' * 2 * _INDENT}{command}", style="bold"), soft_wrap=True)


def _table(*titles: str, right: Iterable[int] = (), columns: int | None = None) -> Table:
    table = Table(
        box=None, show_header=bool(titles), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for place in range(columns or len(titles)):
        table.add_column(
            titles[place] if titles else "",
            justify="right" if place in set(right) else "left",
            overflow="fold",
        )
    return table
