"""A real OpenID provider on loopback: node's oidc-provider, put into a temporary folder."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests import npm
from tests.served import SECONDS, answered, free_port

SOURCE = Path(__file__).parent / "provider_files"
CLIENT_SECRET = "the-desk-at-this-provider"
People = Mapping[str, Mapping[str, object]]


def installed(folder: Path) -> None:
    """Put the provider into a folder; skip the test where npm does not answer."""
    npm.installed(SOURCE, folder, without="no OpenID provider to sign in at")


@contextmanager
def provider(folder: Path, *, desk: str, people: People, port: int | None = None) -> Iterator[str]:
    """Start the provider for a desk at that address, and give its own.

    people: by the name on its sign-in page, the claims of each. port: None is any that is free.
    """
    port = port or free_port()
    told = {"PORT": str(port), "DESK": desk, "PEOPLE": json.dumps(people), "CLIENT_SECRET": CLIENT_SECRET}
    log = folder / "provider.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            ["node", "provider.js"], cwd=folder, env=os.environ | told, stdout=written, stderr=written
        )
        try:
            url = f"http://127.0.0.1:{port}"
            answered(f"{url}/.well-known/openid-configuration", process, log)
            yield url
        finally:
            process.terminate()
            process.wait(SECONDS)
