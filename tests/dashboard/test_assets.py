from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from streamlit import file_util

from dashboard.assets import FOREVER, Assets

ROOT = Path(file_util.get_static_dir())


@pytest.fixture
def client() -> TestClient:
    return TestClient(Assets(PlainTextResponse("from Streamlit")))


@pytest.mark.parametrize(
    "suffix, kind", [(".js", "text/javascript; charset=utf-8"), (".woff2", "font/woff2")]
)
def test_a_file_of_streamlits_is_answered_as_it_lies_there(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, suffix: str, kind: str
) -> None:
    file = next((ROOT / "static").rglob(f"*{suffix}"))
    address = f"/{file.relative_to(ROOT).as_posix()}"
    content = file.read_bytes()

    first = client.get(address)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read again"))
    second = client.get(address)

    assert first.content == second.content == content
    assert first.headers["content-type"] == kind
    assert first.headers["cache-control"] == FOREVER


@pytest.mark.parametrize(
    "method, address",
    [
        ("GET", "/"),
        ("GET", "/static/js/none.js"),
        ("GET", "/static/../index.html"),
        ("GET", "/static/%2e%2e/manifest.json"),
        ("GET", "/_stcore/health"),
        ("POST", "/static/js"),
    ],
)
def test_any_other_request_is_streamlits(client: TestClient, method: str, address: str) -> None:
    assert client.request(method, address).text == "from Streamlit"
