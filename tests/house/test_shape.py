import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import tree

MODULE_LINES = 400
FUNCTION_LINES = 50

# Addresses of package indexes, and places on the machine of whoever wrote a file. Each pattern has a class
# where a letter would do, or this file would find itself.
LEAKS = re.compile(
    r"p[y]pi\.org|pythonhoste[d]\.org|registry\.npmj[s]\.org|(?:^|[\s\"'=(:])/(?:hom[e]|User[s]|roo[t]|wor[k])/",
    re.MULTILINE,
)
BANNER = re.compile(r"\s*#\W{8,}")
# What an assertion may call: each only looks. Whatever else it called would not happen under `python -O`.
LOOKS = {"all", "any", "fullmatch", "isinstance", "issubclass", "keys", "len", "set", "sorted"}
MONEY = re.compile(r"amount|minor|at_risk|money")


def functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_functions(module: ast.Module) -> list[str]:
    return [
        f"{node.name} at line {node.lineno}"
        for node in functions(module)
        if (node.end_lineno or node.lineno) - node.lineno + 1 >= FUNCTION_LINES
    ]


def annotated(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Every name of a module with the type it is said to have: variables, fields, arguments, results."""
    for node in ast.walk(module):
        if isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target), node.annotation
        elif isinstance(node, ast.arg) and node.annotation:
            yield node.arg, node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            yield node.name, node.returns


def float_money(module: ast.Module) -> list[str]:
    return [
        f"{name}: {ast.unparse(annotation)}"
        for name, annotation in annotated(module)
        if MONEY.search(name)
        and any(isinstance(part, ast.Name) and part.id == "float" for part in ast.walk(annotation))
    ]


def acting_assertions(module: ast.Module) -> list[str]:
    """The calls inside assertions that may do something."""
    return [
        ast.unparse(node)
        for statement in ast.walk(module)
        if isinstance(statement, ast.Assert)
        for node in ast.walk(statement.test)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] not in LOOKS
    ]


def leaks(text: str) -> list[str]:
    return [match.group().strip() for match in LEAKS.finditer(text)]


def banners(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if BANNER.match(line)]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # A picture or a parquet file.


def test_a_module_is_under_400_lines() -> None:
    long = [tree.name(path) for path in tree.modules() if len(text_of(path).splitlines()) >= MODULE_LINES]

    assert long == []


def test_a_function_is_under_50_lines() -> None:
    long = {tree.name(path): found for path in tree.modules() if (found := long_functions(tree.parsed(path)))}

    assert long == {}


def test_a_package_is_empty_but_for_the_floor_plan() -> None:
    full = {tree.name(path) for path in tree.modules() if path.name == "__init__.py" and text_of(path)}
    plan = tree.parsed(tree.ROOT / "recon" / "__init__.py")

    assert full == {"recon/__init__.py"}
    assert [type(node) for node in plan.body] == [ast.Expr]
    assert ast.get_docstring(plan)


def test_no_file_names_a_package_index_or_a_place_on_one_machine() -> None:
    found = {tree.name(path): these for path in tree.files() if (these := leaks(text_of(path)))}

    assert found == {}


def test_money_is_never_said_to_be_a_float() -> None:
    found = {tree.name(path): these for path in tree.modules() if (these := float_money(tree.parsed(path)))}

    assert found == {}


def test_the_product_does_nothing_inside_an_assertion() -> None:
    product = [path for path in tree.modules() if not tree.name(path).startswith("tests/")]

    found = {tree.name(path): these for path in product if (these := acting_assertions(tree.parsed(path)))}

    assert found == {}


def test_no_comment_is_a_banner() -> None:
    found = {tree.name(path): these for path in tree.modules() if (these := banners(text_of(path)))}

    assert found == {}


@pytest.mark.parametrize(
    "source, expected",
    [
        ("    # ----- " + "-" * 9 + " reading", ["# ----- " + "-" * 9 + " reading"]),
        ("# " + "=" * 20, ["# " + "=" * 20]),
        ("# A reason.", []),
        ("x = 1  # --strict", []),
    ],
)
def test_a_banner_is_seen(source: str, expected: list[str]) -> None:
    assert banners(source) == expected


@pytest.mark.parametrize(
    "source, expected",
    [
        ("assert write(connection, row), 'it was open'", ["write(connection, row)"]),
        ("assert len(rows) == 1 and books.put(row)", ["books.put(row)"]),
        ("assert isinstance(row, dict), str(row)", []),
        ("done = write(row)\nassert done", []),
    ],
)
def test_an_assertion_that_acts_is_seen(source: str, expected: list[str]) -> None:
    assert acting_assertions(ast.parse(source)) == expected


@pytest.mark.parametrize(
    "lines, expected",
    [(FUNCTION_LINES - 1, []), (FUNCTION_LINES, ["long at line 1"]), (200, ["long at line 1"])],
)
def test_a_long_function_is_seen(lines: int, expected: list[str]) -> None:
    source = "def long():\n" + "    pass\n" * (lines - 1)

    assert long_functions(ast.parse(source)) == expected


@pytest.mark.parametrize(
    "source, expected",
    [
        ("amount: float", ["amount: float"]),
        ("def f(amount_minor: float | None): ...", ["amount_minor: float | None"]),
        ("def amount_at_risk() -> dict[str, float]: ...", ["amount_at_risk: dict[str, float]"]),
        ("amount_minor: int", []),
        ("seconds: float", []),
    ],
)
def test_float_money_is_seen(source: str, expected: list[str]) -> None:
    assert float_money(ast.parse(source)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("--index-url https://p" + "ypi.org/simple", ["p" + "ypi.org"]),
        ("see /ho" + "me/someone/recon", ["/ho" + "me/"]),
        ("https://example.com/home/", []),
        ("/etc/recon/recon.toml", []),
    ],
)
def test_a_leak_is_seen(text: str, expected: list[str]) -> None:
    assert leaks(text) == expected
