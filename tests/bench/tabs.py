"""One browser tab on the queue, and how long a person waits in it until the first row can be read.

The grid is a canvas: a row can be read when its strip holds the dark pixels of letters on light ones.
"""

from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Browser, Page

WINDOW: Final = {"width": 1440, "height": 900}
PATIENCE: Final = 120_000  # Milliseconds for one page on a machine that has much else to do.
# The time at which the grid's first row can be read, in milliseconds of the page's own clock; else false.
ROW: Final = """() => {
    const canvas = document.querySelector('[data-testid=stDataFrame] canvas:not([data-seen])');
    if (!canvas || canvas.clientWidth < 400 || canvas.clientHeight < 68) return false;
    const ratio = canvas.width / canvas.clientWidth;
    const [left, top, width, height] = [60, 35, 300, 30].map(each => each * ratio);
    const pixels = canvas.getContext('2d').getImageData(left, top, width, height).data;
    let light = 0, dark = 0;
    for (let at = 0; at < pixels.length; at += 4) {
        const sum = pixels[at] + pixels[at + 1] + pixels[at + 2];
        if (sum > 700) light += 1; else if (sum < 300) dark += 1;
    }
    return light > 1000 && dark > 50 ? performance.now() : false;
}"""
# What is there now does not count; then a button of these words is pressed, and when that was is returned.
PRESS: Final = """(words) => {
    for (const each of document.querySelectorAll('canvas')) each.dataset.seen = 'yes';
    const buttons = [...document.querySelectorAll('[data-testid=stMain] button')];
    const button = buttons.find(each => each.textContent.includes(words) && !each.disabled);
    const began = performance.now();
    button.click();
    return began;
}"""
LEAVE: Final = """() => {
    for (const each of document.querySelectorAll('canvas')) each.dataset.seen = 'yes';
    return performance.now();
}"""
SENT: Final = (
    """() => performance.getEntriesByType('resource').reduce((sum, each) => sum + each.transferSize, 0)"""
)


@dataclass
class Tab:
    """A tab that shows the queue. milliseconds: from asking for the address to the first row; kb: loaded."""

    page: Page
    milliseconds: float
    kb: int

    @classmethod
    def open(cls, browser: Browser, url: str) -> "Tab":
        """Open the queue in a browser that was never there: nothing is in its cache."""
        context = browser.new_context(viewport=WINDOW, timezone_id="Europe/Berlin", locale="en-GB")  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(url, wait_until="commit")
        shown = page.wait_for_function(ROW).json_value()
        return cls(page, float(shown), round(page.evaluate(SENT) / 1000))

    def press(self, words: str) -> float:
        """Press a button that says this; return the milliseconds until other rows can be read."""
        self.page.locator('[data-testid="stMain"] button:enabled', has_text=words).first.wait_for()
        began = self.page.evaluate(PRESS, words)
        return self._until_shown(began)

    def find(self, text: str) -> float:
        """Type something into the search and press Enter; return the milliseconds until its row is there."""
        field = self.page.get_by_label("Find exactly")
        field.fill(text)
        began = self.page.evaluate(LEAVE)
        field.press("Enter")
        return self._until_shown(began)

    def close(self) -> None:
        """Close it with all that its browser knows."""
        self.page.context.close()

    def _until_shown(self, began: float) -> float:
        return float(self.page.wait_for_function(ROW).json_value()) - began
