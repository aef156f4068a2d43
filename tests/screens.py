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

_STILL = """() => document.querySelector('[data-test-script-state="notRunning"]') && !document.querySelector(
    '[data-testid="stSpinner"], [data-testid="stSkeleton"], [data-stale="true"]')"""


def settled(page: Page) -> None:
    """Wait until a page of the desk has run to its end and drawn what it has."""
    page.wait_for_function(_STILL)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
