"""An installation to be examined: a database, the sandbox as provider and Slack, and files of its own."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recon.doctor import examination
from recon.doctor.examination import Examination
from recon.model.records.remarks import Section
from tests.sandboxes import SLACK_TOKEN, Street

KEY = "rk_test_canary0key"
CLOSED = "http://127.0.0.1:9"  # Nobody listens on the discard port.


@dataclass
class Clinic:
    """What the process would be told; a test changes what it is about."""

    environ: dict[str, str]
    folder: Path
    ahead: timedelta = timedelta()

    def configure(self, name: str, text: str) -> None:
        """Write recon.toml or owners.toml."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)
        self.environ["RECON_CONFIG"] = str(self.folder)

    def examine(self, *only: Section, offline: bool = False, seconds: float = 60.0) -> Examination:
        """Look at everything, or at these sections alone."""
        return examination.examine(
            self.environ, clock=self.clock, offline=offline, seconds=seconds, only=only
        )

    def clock(self) -> datetime:
        """Return our time."""
        return datetime.now(UTC) + self.ahead

    def told(self, section: Section) -> list[str]:
        """Return the remarks of a section as lines: the level, what was found, what to do."""
        return lines(self.examine(section), section)


def lines(found: Examination, section: Section) -> list[str]:
    """Return the remarks of a section as lines."""
    return [
        f"{remark.level}: {remark.found}" + (f" -> {remark.todo}" if remark.todo else "")
        for remark in found.remarks
        if remark.section is section
    ]


def one(told: list[str], sign: str) -> str:
    """Return the one line that holds a sign."""
    found = [line for line in told if sign in line]
    assert len(found) == 1, f"expected one line with {sign!r}, found {told}"
    return found[0]


def levels(told: list[str]) -> set[str]:
    """Return which levels are among the lines."""
    return {line.partition(":")[0] for line in told}


def a_clinic(url: str, street: Street, folder: Path) -> Clinic:
    """Return an installation that lacks nothing but intents and runs."""
    street.control("slack", channels=[{"name": "refund-operators"}])
    environ = {
        "RECON_DATABASE_URL": url,
        "STRIPE_API_KEY": KEY,
        "RECON_STRIPE_BASE_URL": street.url,
        "SLACK_BOT_TOKEN": SLACK_TOKEN,
        "RECON_SLACK_BASE_URL": street.slack_url,
        "RECON_HEARTBEAT_URL": "https://pulse.example/canary-heartbeat",
    }
    return Clinic(environ, folder / "settings")
