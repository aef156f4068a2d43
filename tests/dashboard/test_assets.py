import gzip
from pathlib import Path

import pytest
from streamlit import file_util

from dashboard.assets import FOREVER, Assets
from tests.dashboard.asgi import Seen, asked

ROOT = Path(file_util.get_static_dir())


@pytest.mark.parametrize(
    "suffix, kind", [(".js", "text/javascript; charset=utf-8"), (".woff2", "font/woff2")]
)
def test_a_file_of_streamlits_is_answered_as_it_lies_there(
    monkeypatch: pytest.MonkeyPatch, suffix: str, kind: str
) -> None:
    file = next((ROOT / "static").rglob(f"*{suffix}"))
    address = f"/{file.relative_to(ROOT).as_posix()}"
    content = file.read_bytes()
    kept: dict[str, Assets] = {}

    first = asked(lambda app: kept.setdefault("assets", Assets(app)), [], path=address)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read again"))
    second = asked(lambda _: kept["assets"], [], path=address)

    assert first.body == second.body == content
    assert (first.headers["content-type"], first.headers["cache-control"]) == (kind, FOREVER)
    assert first.passed is None


@pytest.mark.parametrize(
    "kind, address",
    [
        ("http", "/"),
        ("http", "/static/js/none.js"),
        ("http", "/static/../index.html"),
        ("http", "/static/js"),
        ("http", "/_stcore/health"),
        ("websocket", "/_stcore/stream"),
    ],
)
def test_any_other_request_is_streamlits(kind: str, address: str) -> None:
    assert asked(Assets, [], kind=kind, path=address).passed is not None


@pytest.mark.parametrize("suffix, packed", [(".js", True), (".css", True), (".woff2", False)])
def test_who_can_unpack_is_answered_with_what_is_packed_once(suffix: str, *, packed: bool) -> None:
    file = max((ROOT / "static").rglob(f"*{suffix}"), key=lambda each: each.stat().st_size)
    address, content = f"/{file.relative_to(ROOT).as_posix()}", file.read_bytes()
    kept: dict[str, Assets] = {}

    def answered(*told: tuple[str, str | bytes]) -> Seen:
        return asked(lambda app: kept.setdefault("assets", Assets(app)), list(told), path=address)

    able, unable = answered(("accept-encoding", "gzip, br, zstd")), answered()

    assert (unable.body, unable.headers.get("content-encoding")) == (content, None)
    assert able.headers.get("content-encoding") == ("gzip" if packed else None)
    assert (gzip.decompress(able.body) if packed else able.body) == content
    assert {each.headers["vary"] for each in (able, unable)} == {"Accept-Encoding"}
    assert not packed or len(able.body) < len(content) / 2
