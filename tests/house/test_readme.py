"""What stands in the README to be copied is read as it stands there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from recon.model import mapping_toml, registry
from recon.model.mapping import EMPTY

TEXT = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
TOML = [text for kind, text in BLOCKS if kind == "toml" or (not kind and re.match(r"\[\w+\]\n", text))]
PYTHON = [text for kind, text in BLOCKS if kind == "python"]


@pytest.mark.parametrize("text", TOML)
def test_a_toml_block_is_taken_by_what_it_is_for(text: str) -> None:
    tables = tomllib.loads(text)

    if "tools" in tables:
        assert registry.parse([tables])
    if {*tables} <= {"intents", "refunds"}:
        assert mapping_toml.read(text, file="map.toml") != EMPTY


@pytest.mark.parametrize("text", PYTHON)
def test_a_python_block_is_python(text: str) -> None:
    assert ast.parse(text).body


def test_there_are_such_blocks() -> None:
    assert len(PYTHON) > 3
    assert sum("[tools." in text for text in TOML) == 1
    assert any(text.startswith("[intents]") for text in TOML)
