"""axe-core, which says what of a page people with a screen reader, poor sight or no mouse cannot use.

Fetched through npm for the tests alone, of one version whose content is pinned: MPL-2.0, never shipped.
"""

import base64
import hashlib
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

from tests.screens import LIGHT, PHONE, settled

PACKAGE: Final = "axe-core@4.14.1"
SHA512: Final = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
SECONDS: Final = 120  # For npm on a slow line.
# Nothing is preloaded, which takes it a second or two and is for sounds and films alone; no page has any.
FOUND: Final = """only => {
    if (document.querySelector("audio, video")) throw new Error("expected no sound and no film, found one");
    return axe.run({preload: false, resultTypes: ["violations"], ...only}).then(
        said => said.violations.flatMap(rule => rule.nodes.map(
            node => `${rule.id}: ${node.failureSummary} ${node.html.slice(0, 200)}`)));
}"""
COLORS: Final = {"runOnly": ["color-contrast", "link-in-text-block"]}  # Those that are on and go by colors.


@dataclass(frozen=True)
class Axe:
    """The program, to be run inside a page."""

    source: str

    def violations(self, page: Page, *, colors: bool = False) -> list[str]:
        """Return what is wrong with what the page shows now, one sentence each.

        colors: only the rules that go by colors, for a page in the dark that was looked at in the light.
        """
        if not page.evaluate("'axe' in window"):
            page.evaluate(self.source)
        found: list[str] = page.evaluate(FOUND, COLORS if colors else {})
        return found

    def looked_at(self, page: Page) -> list[str]:
        """Return what is wrong with a page in the light and in the dark; what is alike is said once."""
        page.emulate_media(color_scheme="light")
        settled(page)
        found = self.violations(page)
        page.emulate_media(color_scheme="dark")
        settled(page)
        return [*found, *(f"in the dark, {each}" for each in self.violations(page, colors=True))]

    def every_look(self, page: Page) -> list[str]:
        """Return what is wrong with a page in the light, and in the dark as narrow as on a phone."""
        page.emulate_media(color_scheme="light")
        settled(page)
        found, usual = self.violations(page), page.viewport_size
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size(PHONE["viewport"])
        settled(page)
        found += [f"in the dark, where it is narrow, {each}" for each in self.violations(page)]
        page.set_viewport_size(usual or LIGHT["viewport"])
        return found


def fetched(folder: Path) -> Axe:
    """Return axe, fetched into a folder; who asks is skipped where npm is not or does not answer."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, and axe-core comes from nowhere else")
    command = [npm, "pack", PACKAGE, "--silent", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not answer within {SECONDS} s")
    if done.returncode:
        pytest.skip(f"npm could not fetch {PACKAGE}: {done.stderr.strip()[-200:]}")
    (packed,) = folder.glob("*.tgz")
    assert base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode() == SHA512
    with tarfile.open(packed) as files:
        source = files.extractfile("package/axe.min.js")
        assert source is not None
        return Axe(source.read().decode())
