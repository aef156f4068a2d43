from pathlib import Path

import pytest
from streamlit import file_util

from dashboard.hints import SHOWN, Hints, needed
from tests.dashboard.asgi import Sent, asked

SCRIPTS = Path(file_util.get_static_dir()) / "static" / "js"
HTML: Sent = [("content-type", "text/html; charset=utf-8"), ("content-length", "39")]
PAGE = b"<html><head></head><body></body></html>"


def test_a_page_names_what_the_queue_draws_with_before_its_head_ends() -> None:
    seen = asked(Hints, [], answer=HTML, body=PAGE)
    head, _, rest = seen.body.partition(b"</head>")
    links = head.removeprefix(b"<html><head>").split(b"<link ")[1:]

    assert rest == b"<body></body></html>"
    assert seen.headers["content-length"] == str(len(seen.body))
    assert len(links) == len(set(links)) > len(SHOWN)
    assert sum(b"DataFrame." in link for link in links) == 1
    assert all(b'rel="modulepreload" crossorigin fetchpriority="low"' in link for link in links)


def test_nothing_is_named_that_the_page_loads_by_itself() -> None:
    index = (SCRIPTS.parents[1] / "index.html").read_text(encoding="utf-8")
    seen = asked(Hints, [], answer=HTML, body=PAGE).body.decode()

    assert [file.name for file in SCRIPTS.glob("*.js") if file.name in index and file.name in seen] == []


@pytest.mark.parametrize("kind", SHOWN)
def test_streamlit_has_a_script_of_this_name(kind: str) -> None:
    assert [name for name in needed(SCRIPTS) if name.startswith(f"{kind}.")] != []


def test_what_is_imported_is_needed_too_and_what_is_not_there_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "Metric.1.js").write_text('import{a as b}from"./one.2.js";import"./two.3.js";')
    (tmp_path / "one.2.js").write_text('export*from"./Metric.1.js"')
    (tmp_path / "two.3.js").write_text("export const two = 2")

    assert sorted(needed(tmp_path)) == ["Metric.1.js", "one.2.js", "two.3.js"]


@pytest.mark.parametrize(
    "answer, status, kind",
    [
        ([("content-type", "text/javascript")], 200, "http"),
        (HTML, 404, "http"),
        ([], 200, "websocket"),
    ],
)
def test_any_other_answer_is_passed_on_as_it_is(answer: Sent, status: int, kind: str) -> None:
    seen = asked(Hints, [], answer=answer, status=status, kind=kind, body=PAGE)

    assert seen.body in {PAGE, b""}
    assert b"modulepreload" not in seen.body
