import pytest
from playwright.sync_api import Browser

from tests.screens import NARROW, resized, settled

pytestmark = pytest.mark.browser

# As a chart is: laid out anew some time after the page around it.
LATE = """<div data-test-script-state="notRunning"></div><div id="chart" style="width: 1200px">.</div>
<script>addEventListener("resize", () => setTimeout(
    () => { document.querySelector("#chart").style.width = "100%"; }, 150))</script>"""


def test_a_page_that_was_resized_is_looked_at_when_it_stands_still(chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 700})
    page.set_content(LATE)
    resized(page, *NARROW)
    after = page.evaluate("document.documentElement.scrollWidth")
    page.set_content(LATE)
    page.set_viewport_size({"width": 400, "height": 700})
    settled(page)  # Which is not enough: else nothing here would show anything.
    early = page.evaluate("document.documentElement.scrollWidth")
    page.close()

    assert (after, early > NARROW[0]) == (NARROW[0], True)
