import tomllib
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from recon.model import documents
from recon.model.documents import Path, Table

HARD = '''\
# [[rules]]
[[rules]]  # [[rules]]
name = "a # not [ a comment"
kind = [
  "x", # ]
  "y]",
]
team = """
[[rules]]
key = "said" \\"""
he said "hi""""
"odd \\" key" = 1

  [[ rules ]]
    name = 'b # ['
[rules.amount_at_least_minor]
usd = 5
[owners."support leads"]
target = "#x"
escalation = [ { after_minutes = 60, owner = "]" },
  { after_minutes = 90 } ]
[owners]
"b.c".target = \'\'\'
[no]\'\'\'
[[owners.z.steps]]
a = 2026-03-06 12:00:00
[[owners.z.steps]]
a.b = 2'''


def test_each_table_and_key_has_the_line_it_stands_on() -> None:
    expected: dict[Path, int] = {
        ("rules",): 2,
        ("rules", 0): 2,
        ("rules", 0, "name"): 3,
        ("rules", 0, "kind"): 4,
        ("rules", 0, "team"): 8,
        ("rules", 0, 'odd " key'): 12,
        ("rules", 1): 14,
        ("rules", 1, "name"): 15,
        ("rules", 1, "amount_at_least_minor"): 16,
        ("rules", 1, "amount_at_least_minor", "usd"): 17,
        ("owners",): 18,
        ("owners", "support leads"): 18,
        ("owners", "support leads", "target"): 19,
        ("owners", "support leads", "escalation"): 20,
        ("owners", "b.c"): 23,
        ("owners", "b.c", "target"): 23,
        ("owners", "z"): 25,
        ("owners", "z", "steps"): 25,
        ("owners", "z", "steps", 0): 25,
        ("owners", "z", "steps", 0, "a"): 26,
        ("owners", "z", "steps", 1): 27,
        ("owners", "z", "steps", 1, "a"): 28,
        ("owners", "z", "steps", 1, "a", "b"): 28,
    }

    assert documents.lines(HARD) == expected
    assert documents.read(HARD.replace("\n", "\r\n"), file="f").lines == expected


def paths(content: Any, above: Path = ()) -> set[Path]:  # noqa: ANN401  # what TOML holds
    """Every table and key, down to the values."""
    found: set[Path] = set()
    if isinstance(content, dict):
        for name, below in content.items():
            found |= {(*above, name)} | paths(below, (*above, name))
    elif isinstance(content, list) and content and all(isinstance(each, dict) for each in content):
        for place, below in enumerate(content):
            found |= {(*above, place)} | paths(below, (*above, place))
    return found


Row = tuple[str, str, str]
Header = tuple[str, bool, tuple[str, str], list[Row]]
NAME = st.sampled_from(["a", "b-1", '"c d"', "'e#'", '"f.g"', '"h\\"]"'])
VALUE = st.sampled_from(
    [
        "1",
        '"x # ["',
        "'''\n[[a]]\nb = 1'''",
        '"""q\n"""" # " [',
        "'''q\n'''' # ' [",
        '"""""" # "',
        '[ "[[a]]", # "]\n 2 ]',
        "[\n[1],\n# x\n[ ']' ]\n]",
        '"\\\\"',
        "12:00:00",
    ]
)
GAP = st.sampled_from(["", "\n", "  # [x]\n", "# it's \"\n\n"])
BODY = st.lists(st.tuples(GAP, NAME, VALUE), max_size=4, unique_by=lambda each: each[1])
TABLES = st.lists(st.tuples(GAP, st.booleans(), st.tuples(NAME, NAME), BODY), max_size=5)


@given(body=BODY, tables=TABLES)
def test_what_has_a_line_is_what_the_reader_finds(body: list[Row], tables: list[Header]) -> None:
    written, lists = "", dict[tuple[str, str], bool]()
    for number, (gap, _, value) in enumerate(body):
        written += f"{gap}x{number} = {value}\n"
    for number, (gap, many, (above, below), keys) in enumerate(tables):
        lists.setdefault((above, below), many)
        name = f"{above}.{below}" if lists[above, below] else f"{above}.{below}.n{number}"
        written += f"{gap}[[{name}]]\n" if lists[above, below] else f"{gap}[ {name} ] # [\n"
        written += "".join(f"{between}{key} = {value}\n" for between, key, value in keys)
    try:
        content = tomllib.loads(written)
    except tomllib.TOMLDecodeError:  # Names that clash: no file that anybody loads.
        reject()
    found = documents.lines(written)

    assert set(found) == paths(content)
    assert {path: line for path, line in found.items() if not 1 <= line <= written.count("\n")} == {}


def test_a_document_is_a_mapping_like_any_other() -> None:
    document = documents.read("a = 1\n[b]\nc = 2\n", file="f")

    assert document == {"a": 1, "b": {"c": 2}}
    assert (list(document), len(document)) == (["a", "b"], 2)


def test_a_mistake_in_the_syntax_names_its_line() -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="line 2"):
        documents.read("a = 1\nb =\n", file="f")


@pytest.mark.parametrize(
    "text,said",
    [
        ("a = " + "[" * 5_000 + "]" * 5_000, "nests deeper"),
        ("a = " + "{a=" * 5_000 + "1" + "}" * 5_000, "nests deeper"),
        ("a = " + "9" * 5_000, "thousands of digits"),
        ("a = [{b = 0x" + "f" * 5_000 + "}]", "more than 64 bits"),
    ],
)
def test_what_the_reader_cannot_hold_is_no_settings(text: str, said: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=said):
        documents.read(text, file="f")


def test_an_error_names_file_line_and_table_as_far_as_they_are_known() -> None:
    document = documents.read("\n[[t]]\nname = 'x'\n", file="here.toml")
    table = Table({"name": "x"}, "[[t]] number 1", ("t", 0), document)
    plain = Table({"name": "x"}, "[[t]] number 1", ("t", 0), {"t": [{"name": "x"}]})

    assert str(table.error("no.", "name")) == "here.toml, line 3, [[t]] number 1: no."
    assert str(table.error("no.", "gone")) == "here.toml, line 2, [[t]] number 1: no."
    assert str(table.error("no.")) == "here.toml, line 2, [[t]] number 1: no."
    assert str(plain.error("no.", "name")) == "owners.toml, [[t]] number 1: no."


@pytest.mark.parametrize(
    "value", ["", " ", " x", "x ", "a\nb", "a\u202eb", "a\x00", "x" * 201, 7, None, ["x"]]
)
def test_a_text_is_one_line_without_spaces_around_it(value: object) -> None:
    table = Table({"name": value}, "[[t]]", ("t",), {})
    good = Table({"name": "x" * 200}, "[[t]]", ("t",), {})

    assert good.text("name") == "x" * 200
    with pytest.raises(Exception, match=r"name is .*; expected"):
        table.text("name")
