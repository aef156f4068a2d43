"""The page of `recon diff --format html` in a real browser: for every eye, on every screen, asking nobody."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from recon.model.records.comparisons import Compared, Comparison, Earlier, Seen, Standing
from recon.model.records.results import Healable, InFlight, Money, Reject
from recon.model.records.words import AccountId, Basis, IntentKey, Kind, RefundId, Subject, Verdict
from recon.rules.reports import findings, pages
from tests.browser.axe import Axe
from tests.rules.reports.results import AT, COUNTS, MISMATCH, a_report, a_result
from tests.screens import LOOKS

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>\u202e\"' " + "k" * 90


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A page with something in every place, some of it hostile, and more rows of a kind than are open."""
    account, key = AccountId("acct_" + "x" * 60), IntentKey(HOSTILE)
    subject = Subject(f"intent:{HOSTILE}")
    many = tuple(
        replace(
            MISMATCH,
            kind=kind,
            subject=Subject(f"{subject}{n}"),
            at_risk=Money(10**12 + n, currency),
            why=HOSTILE,
        )
        for kind in (Kind.DUPLICATE, Kind.MISSING)
        for n, currency in enumerate(("usd", "eur", "jpy") * (findings.OPEN // 2))
    )
    result = a_result(
        mismatches=many,
        at_risk={"eur": 1, "jpy": 2, "usd": 3},
        counts=replace(COUNTS, mismatches={Kind.DUPLICATE: 30, Kind.MISSING: 30}, system=2),
        in_flight=(InFlight(account, subject, Kind.MISSING, AT),),
        healable=(Healable(account, key, RefundId("re_3"), Basis.INTENT_KEY),),
        rejected=(Reject(HOSTILE, 7, HOSTILE, HOSTILE),),
        withheld=((account, subject),),
        incomplete=("Not all refunds were read.",),
    )
    seen = Seen(Kind.STUCK, Money(100, "usd"))
    earlier = Earlier("old.json", AT, Verdict.BREAKS, {(account, subject): seen})
    compared = Comparison(earlier, (Compared(Standing.NEW, account, subject, None, seen),))
    file = tmp_path / "report.html"
    file.write_text(pages.as_html(a_report(result, comparison=compared)), encoding="utf-8")
    return file


def test_a_report_for_every_eye_on_every_screen_and_on_paper_asks_nobody(
    chromium: Browser, axe: Axe, written: Path
) -> None:
    found = {}
    for look, how in LOOKS.items():
        context = chromium.new_context(**how)
        page = context.new_page()
        asked = listened(page)
        page.goto(written.as_uri())
        page.locator("summary").first.click()
        found[look] = (asked[1:], wider(page), axe.violations(page))
        if look == "light":
            printed = on_paper(page)
        context.close()

    assert found == dict.fromkeys(LOOKS, ([], 0, []))
    assert printed == (True, True)


def listened(page: Page) -> list[str]:
    """What a page asks for and what its browser complains about, as it happens."""
    heard: list[str] = []
    page.on("request", lambda request: heard.append(request.url))
    page.on("console", lambda message: heard.append(message.text))
    return heard


def wider(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def on_paper(page: Page) -> tuple[bool, bool]:
    """Whether the folded rows of a kind are printed, and the links to other places are not."""
    page.emulate_media(media="print")
    folded = page.locator("details:not([open]):not(.numbers) tbody tr").last
    return folded.bounding_box() is not None, page.locator("nav").bounding_box() is None
