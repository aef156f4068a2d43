"""The page in a real browser: what the script saves a person, and that nothing breaks it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from slack_sdk.socket_mode.request import SocketModeRequest

from tests.sandbox.app import listening
from tests.sandbox.clients import slack
from tests.sandboxes import Street

pytestmark = pytest.mark.browser
CHROMIUM = os.environ.get("RECON_CHROMIUM", "/usr/bin/chromium")
SECONDS = 30  # For a page to settle on a busy machine.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for this module."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, sandbox: Street) -> Iterator[Page]:
    """The page as Dana sees it, with a case that can be resolved; nothing may be said on its console."""
    sandbox.control("slack", rate_limit=False, users=[{"email": "dana@example.com", "id": "U0DANA"}])
    post(sandbox, "a case <http://x.test/?<script>")
    context = browser.new_context()
    shown = context.new_page()
    shown.set_default_timeout(SECONDS * 1000)
    said: list[str] = []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.goto(f"{sandbox.url}/slack/C0OPS?as=U0DANA")
    yield shown
    context.close()
    assert said == []


def post(street: Street, text: str) -> None:
    menu = {
        "type": "overflow",
        "action_id": "menu",
        "options": [{"text": {"type": "plain_text", "text": "Resolve"}, "value": "resolve/1"}],
    }
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}, "accessory": menu}
    slack(street).chat_postMessage(channel="C0OPS", text=text, blocks=[section])


def dialog() -> dict[str, Any]:
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Resolve"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [
            {
                "type": "input",
                "block_id": "why",
                "label": {"type": "plain_text", "text": "Reason"},
                "element": {"type": "plain_text_input", "action_id": "text", "multiline": True},
            }
        ],
    }


def test_a_person_resolves_a_case_without_reloading(sandbox: Street, page: Page) -> None:
    client = slack(sandbox)

    def answer(request: SocketModeRequest) -> dict[str, Any] | None:
        if request.payload["type"] == "block_actions":
            client.views_open(trigger_id=request.payload["trigger_id"], view=dialog())
            return None
        reason = request.payload["view"]["state"]["values"]["why"]["text"]["value"]
        if len(reason) < 5:
            return {"response_action": "errors", "errors": {"why": "Say more."}}
        client.chat_postMessage(channel="C0OPS", text=f"resolved: {reason}")
        return None

    with listening(sandbox, answer):
        page.get_by_label("More actions").click()
        page.get_by_role("button", name="Resolve").click()
        page.get_by_label("Reason").fill("no")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert")).to_have_text("Say more.", timeout=SECONDS * 1000)
        kept = page.get_by_label("Reason").input_value()
        page.get_by_label("Reason").fill("money recovered")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("dialog")).to_have_count(0, timeout=SECONDS * 1000)
        expect(page.get_by_text("resolved: money recovered")).to_be_visible(timeout=SECONDS * 1000)

    assert kept == "no"
    assert page.url.endswith("/slack/C0OPS?as=U0DANA")


def test_what_is_new_appears_and_an_open_menu_stays(sandbox: Street, page: Page) -> None:
    page.get_by_label("More actions").click()
    post(sandbox, "another case")

    expect(page.get_by_text("another case")).to_be_visible(timeout=SECONDS * 1000)
    expect(page.get_by_role("button", name="Resolve").first).to_be_visible()


def test_a_click_that_nobody_hears_is_said(sandbox: Street, page: Page) -> None:
    page.get_by_label("More actions").click()
    page.get_by_role("button", name="Resolve").click()

    expect(page.get_by_role("status")).to_contain_text("Nobody listens", timeout=SECONDS * 1000)


def test_escape_closes_a_menu(sandbox: Street, page: Page) -> None:
    page.get_by_label("More actions").click()
    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Resolve")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(sandbox: Street, browser: Browser, page: Page, scheme: Any) -> None:  # noqa: ANN401  playwright's own literal
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    phone = context.new_page()
    phone.goto(page.url)
    width = phone.evaluate("document.documentElement.scrollWidth")
    colours = phone.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    context.close()

    assert width == 360
    assert (
        colours
        == {
            "light": ["rgb(29, 28, 29)", "rgb(255, 255, 255)"],
            "dark": ["rgb(227, 228, 230)", "rgb(26, 29, 33)"],
        }[scheme]
    )
