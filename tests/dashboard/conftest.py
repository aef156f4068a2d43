"""The dashboard in one process: the real router over a seeded SQLite file, without a browser."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from recon.doors.store.engines import Database

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
SECONDS = 30  # For a page on a busy machine.

Visit = Callable[..., AppTest]


@pytest.fixture
def database(sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A migrated SQLite file that the dashboard's settings name."""
    path = tmp_path / "recon.db"
    path.write_bytes(sqlite_template.read_bytes())
    monkeypatch.setenv("RECON_DATABASE_URL", f"sqlite:///{path}")
    with Database.open(f"sqlite:///{path}") as opened:
        yield opened


@dataclass
class Server:
    """What the pages take for their server: the address it listens on, and the headers of the request."""

    address: str | None = "127.0.0.1"
    headers: dict[str, str] = field(default_factory=dict)


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """A desk of its own for each test, served as the launcher serves it, with no settings of the checkout."""
    stand_in = Server()
    told = st.get_option
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        st, "get_option", lambda name: stand_in.address if name == "server.address" else told(name)
    )
    monkeypatch.setattr(type(st.context), "headers", property(lambda _: stand_in.headers))
    st.cache_resource.clear()
    yield stand_in
    st.cache_resource.clear()


@pytest.fixture
def visit() -> Visit:
    """Open a page with what its address says."""

    def opened(page: str = "queue", **address: str) -> AppTest:
        test = AppTest.from_file(APP, default_timeout=SECONDS)
        test.query_params.update(address)
        test.run()
        if page != "queue":
            test.switch_page(f"views/{page}.py")
            test.query_params.update(address)
            test.run()
        return test

    return opened


def now() -> datetime:
    """The time: pages say how long ago a run was, by the clock of this machine."""
    return datetime.now(UTC)


def words(test: AppTest) -> str:
    """Everything that a page says, in order."""
    parts = []
    for kind in ("title", "header", "text", "markdown", "caption", "error", "success", "info", "warning"):
        parts += [element.value for element in getattr(test, kind)]
    parts += [f"{metric.label}: {metric.value}" for metric in test.metric]
    return "\n".join(parts)
