import io
import threading

import pytest

from recon.cli import progress
from recon.model.records.progress import Pulling, Waiting
from recon.model.records.words import AccountId

FIRST = Pulling(AccountId(""), number=1, accounts=15)


@pytest.mark.parametrize(
    "told,sentence",
    [
        (FIRST, "Reading account 1 of 15: the platform"),
        (
            Pulling(AccountId("acct_2"), 2, 15, pages=1, refunds=7, slices_read=1, slices=1),
            "Reading account 2 of 15: acct_2, 1 page, 7 refunds",
        ),
        (
            Pulling(AccountId("acct_2"), 2, 15, pages=1200, refunds=119_034, slices_read=3, slices=48),
            "Reading account 2 of 15: acct_2, 1,200 pages, 119,034 refunds, 3 of 48 slices",
        ),
    ],
)
def test_a_reading_says_how_far_it_is(told: Pulling, sentence: str) -> None:
    assert str(told) == sentence


def test_a_log_hears_of_many_pages_and_of_long_waits_and_of_nothing_that_is_soon_over() -> None:
    told: list[Pulling | Waiting] = []
    time = 0.0
    counters = progress.Counters(told.append, clock=lambda: time)
    counters("Comparing 3 intents and 4 refunds")
    for pages, seconds in ((0, 0), (1, 1), (200, 20), (201, 29), (202, 50), (203, 51)):
        time = seconds
        counters(Pulling(AccountId(""), 1, 2, pages=pages))
    time = 99
    counters(Pulling(AccountId("acct_2"), 2, 2, pages=1))

    assert [each.pages for each in told if isinstance(each, Pulling)] == [200, 202]


def test_without_a_terminal_a_long_reading_is_told_on_standard_error_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress.shown() as say:
        say(FIRST)
        say("Comparing 3 intents and 4 refunds")
        say(Pulling(AccountId("[red]x"), 1, 1, pages=progress.PAGES_A_LINE, refunds=9))

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.split() == [
        "recon:",
        "Reading",
        "account",
        "1",
        "of",
        "1:",
        "[red]x,",
        "200",
        "pages,",
        "9",
        "refunds",
    ]


def test_a_terminal_shows_a_bar_that_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.shown() as say:
        say(Pulling(AccountId(""), 1, 1, pages=5, refunds=500, slices_read=3, slices=48))

    told = capsys.readouterr()
    assert told.out == ""
    assert "3 of 48 slices" in told.err


class Terminal(io.StringIO):
    """A screen that somebody looks at. drawn: set when anything is."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "Reading" in text:
            self.drawn.set()
        return super().write(text)


def test_what_takes_long_is_shown_on_a_terminal_and_gone_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.patient(after=0) as doing:
        doing("Reading \x1b[2Jrefunds.csv", done=1, total=3)
        drawn = screen.drawn.wait(timeout=30)

    assert drawn
    assert "Reading \ufffd[2Jrefunds.csv" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")


def test_what_is_soon_over_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with progress.patient() as doing:
        doing("Reading refunds.csv")

    assert screen.getvalue() == ""


def test_a_pipe_hears_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.patient(after=0) as doing:
        doing("Reading refunds.csv")

    assert capsys.readouterr() == ("", "")


def test_without_standard_error_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with progress.patient(after=0) as doing:
        doing("Reading refunds.csv")
