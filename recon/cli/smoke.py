"""`recon smoke`: whether a refund tool refunds once, whatever happens between the question and the answer."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from recon.cli import exits, extras
from recon.cli.options import Format, Output
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError

if TYPE_CHECKING:
    from recon.cli.smoking.report import Line, Smoked
    from recon.cli.smoking.scenarios import Theatre, Trial
    from recon.cli.smoking.stages import Stage
    from recon.cli.smoking.subjects import Subject
    from recon.doors.store.engines import Database

_STRIPE = "https://api.stripe.com"
_TEST_KEYS = ("sk_test_", "rk_test_")
Tool = Annotated[
    str | None,
    typer.Option(metavar="MODULE:CALLABLE", help="Your function of (order_id, amount), plain or async."),
]
Status = Annotated[
    str | None,
    typer.Option(metavar="MODULE:CALLABLE", help='Your function of (order_id): "did it go through?"'),
]
AtProvider = Annotated[
    bool,
    typer.Option("--provider", metavar="", help="Try it at your provider's test account (STRIPE_API_KEY)."),
]
Payment = Annotated[
    str | None,
    typer.Option(metavar="pi_...", help="With --provider: a captured test payment to refund in parts."),
]
Patience = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=1, max=120, help="After which a caller gives up and asks again."),
]


def smoke(
    *,
    tool: Tool = None,
    status: Status = None,
    provider: AtProvider = False,
    payment: Payment = None,
    patience: Patience = 3.0,
    output: Output = Format.TABLE,
) -> None:
    """Look whether a refund tool refunds once, before a deploy and in CI.

    It asks for a refund, lets the answer get lost, asks "did it go through?",
    and asks again: eight ways of going wrong, one order each. The provider's
    books must then show exactly one live refund for each order, and the last
    answers must fit them.

    It tries the guarded tool of this package; with --tool a function of yours,
    called with an order's id and an amount as text ("1.05").

    Everything happens on this machine: a provider of its own, a database of
    its own. Your function finds them in STRIPE_API_KEY, RECON_STRIPE_BASE_URL
    and RECON_DATABASE_URL, set before its module is loaded. The payment of
    order smoke_1 is pi_smoke_1; RECON_SMOKE_PAYMENT and RECON_SMOKE_CURRENCY
    say it at each call. What it answers or raises last is read by its status
    ("done", "pending", "failed"), a flag ("success"), the refund's id or the
    words; what says nothing of the kind is shown, for you to read.

    With --provider the refunds are real ones of a test account, of about 1.00
    each, and a relay on this machine loses the answers. A live key is refused
    before anything is sent, and no payment is made: name one with --payment.

    Exit 0: each order was refunded once, and the tool knows it.
    Exit 1: one was not, or the tool says otherwise; the line says what happened
    and what to do.
    Exit 2: an option or the key cannot be used.
    """
    from recon.cli.smoking import report

    if payment is not None and not provider:
        raise ConfigurationError("--payment names a payment of a provider: say --provider too.")
    if status is not None and tool is None:
        raise ConfigurationError("--status asks about refunds of your own tool: say --tool too.")
    smoked = _smoked((tool, status), payment, patience, at_provider=provider, shown=output is Format.TABLE)
    if output is Format.JSON:
        print(json.dumps(report.as_json(smoked), indent=2, ensure_ascii=False))
    else:
        _print(report.ending(smoked))
    if not smoked.ok:
        raise typer.Exit(exits.FOUND)


def _smoked(
    named: tuple[str | None, str | None],
    payment: str | None,
    patience_seconds: float,
    *,
    at_provider: bool,
    shown: bool,
) -> "Smoked":
    """Return what all of it came to. named: tool and status. shown: each scenario, as it is over."""
    from recon.cli.smoking import ledger, report

    began = time.monotonic()
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory(prefix="recon-smoke-")))
        stage, key = held.enter_context(_stage(payment, at_provider=at_provider))
        theatre, database = held.enter_context(_theatre(stage, key, folder, named, patience_seconds))
        trials = tuple(_played(theatre, shown=shown))
        result = ledger.diff(database, trials)
    where = "the provider's test account" if at_provider else "the sandbox"
    return report.Smoked(theatre.subject.name, where, trials, result, time.monotonic() - began)


@contextmanager
def _stage(payment: str | None, *, at_provider: bool) -> Iterator[tuple["Stage", str]]:
    """Yield where it is tried, and the key with which.

    Raises:
        ConfigurationError: the key is none of a test account, or no payment is named. Nothing was sent.
    """
    from recon.cli.friday.street import Street
    from recon.cli.smoking import scratch
    from recon.cli.smoking.stages import SandboxLine, Stage

    if not at_provider:
        with extras.needed("recon smoke", "sandbox"):
            from recon.sandbox.server import Sandbox
        with Sandbox.start() as sandbox:
            seen = scratch.provider(sandbox.url, scratch.KEY, patience_seconds=30.0)
            yield Stage(SandboxLine(Street(sandbox.url)), seen), scratch.KEY
        return
    from recon.cli.smoking.relay import Relay
    from recon.doors import config

    told = config.load().provider
    key = told.api_key.reveal()
    if not key.startswith(_TEST_KEYS):
        raise ConfigurationError(
            f"Expected STRIPE_API_KEY to be a test key ({' or '.join(_TEST_KEYS)}...), found "
            f"{'a live key' if '_live_' in key else 'something else' if key else 'none'}: nothing was sent."
        )
    if payment is None:
        raise ConfigurationError(
            "--provider needs --payment: a captured payment of the test account to refund."
        )
    relay = Relay(told.base_url or _STRIPE, key, payment)
    try:
        seen = scratch.provider(told.base_url, key, patience_seconds=90.0)
        # The provider keeps keys for a day: each run has orders of its own.
        yield Stage(relay, seen, mark=f"smoke_{uuid4().hex[:8]}"), key
    finally:
        relay.close()


@contextmanager
def _theatre(
    stage: "Stage", key: str, folder: Path, named: tuple[str | None, str | None], patience_seconds: float
) -> Iterator[tuple["Theatre", "Database"]]:
    """Yield everything that a trial touches, and its books."""
    from recon.cli.smoking import ledger, scratch
    from recon.cli.smoking.scenarios import Levers, Theatre

    path = folder / "recon.db"
    with ExitStack() as held:
        database = held.enter_context(scratch.books(path))
        told = scratch.environment(stage.line.url, path, key, proxies=os.environ.get("NO_PROXY", ""))
        for name in told:
            os.environ.pop(f"{name}_FILE", None)  # What a file says is for another provider and other books.
        os.environ.update(told)
        subject = held.enter_context(
            _subject(database, stage.line.url, key, named, patience_seconds=patience_seconds)
        )
        levers = Levers(
            guarded=lambda: bool(ledger.tools(database)),
            throw=lambda thrown: ledger.throw(database, thrown=thrown),
        )
        yield Theatre(stage, subject, levers, patience_seconds), database


@contextmanager
def _subject(
    database: "Database", url: str, key: str, named: tuple[str | None, str | None], *, patience_seconds: float
) -> Iterator["Subject"]:
    from recon.cli.smoking import scratch, subjects

    tool, status = named
    if tool is None:
        with scratch.tool(database, url, key, patience_seconds=patience_seconds) as ours:
            yield subjects.Own(ours)
        return
    asks = None if status is None else subjects.load("--status", status)
    yield subjects.Theirs(tool, subjects.load("--tool", tool), asks)


def _played(theatre: "Theatre", *, shown: bool) -> Iterator["Trial"]:
    """Yield the scenarios as they are over, with a word on a terminal about the one that is under way."""
    from rich.console import Console

    from recon.cli.smoking import report
    from recon.cli.smoking.scenarios import SCENARIOS

    console, heard = Console(stderr=True), False
    for number, scenario in enumerate(SCENARIOS, start=1):
        with console.status(
            f"{number} of {len(SCENARIOS)}: {scenario.says}"
        ):  # Gone before a line is printed.
            trial = theatre.play(scenario, number)
        heard = heard or bool(trial.sent)
        if shown:
            _print(report.lines(trial, again=number > 1 and not heard))
        yield trial


def _print(lines: Iterable["Line"]) -> None:
    """Print lines: folded under their beginning on a terminal, whole elsewhere."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    for line in lines:
        text = Text(harmless(line.text), style=line.style)
        if console.is_terminal and line.text:
            console.print(Padding(text, (0, 0, 0, line.indent), expand=False))
        else:
            console.print(Text(" " * line.indent) + text, soft_wrap=True)
