"""What a person looks at the desk on, and when a page of it stands still."""

from typing import Any, Final

from playwright.sync_api import Page

# As a browser context takes them. A phone says what it is: the desk shows it plain lists.
LIGHT: Final[dict[str, Any]] = {"viewport": {"width": 1366, "height": 768}, "color_scheme": "light"}
DARK: Final[dict[str, Any]] = LIGHT | {"color_scheme": "dark"}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130 Mobile Safari/537",
}
LOOKS: Final = {"light": LIGHT, "dark": DARK, "phone": PHONE}
NARROW: Final = (PHONE["viewport"]["width"], PHONE["viewport"]["height"])

_STILL = """() => document.querySelector('[data-test-script-state="notRunning"]') && !document.querySelector(
    '[data-testid="stSpinner"], [data-testid="stSkeleton"], [data-stale="true"]')"""

# Frames, because a busy page draws none; and time, because charts and grids wait before they draw anew.
_STILL_FRAMES, _STILL_MS = 10, 250
_STANDS = """([frames, ms]) => {
    const shape = [innerWidth, ...[...document.querySelectorAll("body, body *")].map(each => {
        const box = each.getBoundingClientRect();
        return [box.x, box.y, box.width, box.height, each.scrollWidth];
    })].join();
    const last = window.lastShape;
    if (!last || last.shape !== shape) {
        window.lastShape = {shape, frames: 0, at: performance.now()};
        return false;
    }
    last.frames += 1;
    return last.frames >= frames && performance.now() - last.at >= ms;
}"""


def settled(page: Page) -> None:
    """Wait until a page of the desk has run to its end and drawn what it has."""
    page.wait_for_function(_STILL)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def still(page: Page) -> None:
    """Wait until a page has settled and nothing on it moves or changes its size any more.

    A chart or a grid is laid out anew some frames after the page around it: until then it makes the page as
    wide as it was.
    """
    settled(page)
    page.evaluate("window.lastShape = null")
    page.wait_for_function(_STANDS, arg=[_STILL_FRAMES, _STILL_MS])


def resized(page: Page, width: int, height: int) -> None:
    """Give a page another size, and wait until it stands still in it."""
    page.set_viewport_size({"width": width, "height": height})
    still(page)
