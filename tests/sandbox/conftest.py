"""What the sandbox's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.node import Node, running


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """One node for the whole worker, with the provider's and Slack's clients in it."""
    with running(tmp_path_factory.mktemp("node")) as found:
        yield found
