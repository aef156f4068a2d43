"""`recon backfill`: reads an older window of the provider's refunds, and judges what it touches."""

from datetime import UTC, date, datetime, time
from typing import Annotated

import typer

from recon.cli.options import DryRun, FailOnMismatch, Format, Output, Wait
from recon.cli.run import carry_out
from recon.model import moments
from recon.model.errors import ConfigurationError
from recon.model.records.runs import Backfill
from recon.model.records.words import AccountId

PLATFORM = "platform"  # What the platform's own account is called here.
_LAST = time(23, 59, 59)  # Of a day: the provider counts whole seconds.


From = Annotated[str, typer.Option("--from", metavar="ISO", help="The first day, or a time with its zone.")]
To = Annotated[
    str, typer.Option("--to", metavar="ISO", help="The last day, all of it, or a time with its zone.")
]
Accounts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ACCT",
        help="A connected account, or 'platform'; may be given several times. Otherwise all of them.",
    ),
]
Notify = Annotated[
    bool, typer.Option("--notify", metavar="", help="Tell the owners of the cases it opens about the past.")
]


def backfill(
    *,
    from_: From,
    to: To,
    account: Accounts = None,
    notify: Notify = False,
    dry_run: DryRun = False,
    format_: Output = Format.TABLE,
    fail_on_mismatch: FailOnMismatch = False,
    wait: Wait = 0,
) -> None:
    """Read an older window of refunds, judge what it touches, and open cases without a notice.

    It is a whole run that reads a window more: what is new is read, judged and queued as ever. A case about
    something older than all that was read before is opened in silence: the dashboard has it, whoever owns it
    is told when it changes, and the message of its thread may list it from then on.

    The window counts once it reaches, without a gap, what is read already: read back the nearest part first,
    or all of it at once. What lies before a gap is kept, and judged when the gap is closed.

    It may be killed: what it had read to the end within a day is not read again. The provider tells what
    happened to a refund for 30 days only; of older ones it is known how they stand, not when they changed.

    Exit 0: done, whatever was found.
    Exit 1: there are mismatches, and --fail-on-mismatch was given.
    Exit 2: the window or the configuration cannot be used.
    Exit 3: not everything was read, or rows were rejected; the same command goes on where it was.
    Exit 75: another run is at it, and was so for as long as --wait says.
    """
    from_at, to_at = _moment("--from", from_), _moment("--to", to, last=True)
    if from_at > to_at:
        raise ConfigurationError(f"--from must not be later than --to; found {from_[:40]} and {to[:40]}.")
    accounts = None if not account else tuple(AccountId("" if each == PLATFORM else each) for each in account)
    carry_out(
        dry_run=dry_run,
        format_=format_,
        fail_on_mismatch=fail_on_mismatch,
        deliver=False,
        wait=wait,
        back=Backfill(from_at, to_at, accounts, notify=notify),
    )


def _moment(option: str, text: str, *, last: bool = False) -> datetime:
    """Return a time; a day is its first second, or its last one, in UTC."""
    text = text.strip()
    try:
        return datetime.combine(date.fromisoformat(text), _LAST if last else time.min, UTC)
    except ValueError:  # No day; perhaps a time.
        moment = moments.read(text)
    if moment is None:
        raise ConfigurationError(
            f"{option} must be a day such as 2026-03-06, or a time with its zone such as "
            f"2026-03-06T19:00:00Z; found {text[:40]!r}."
        )
    return moment
