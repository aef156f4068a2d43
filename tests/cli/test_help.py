"""Every command's help as a person reads it."""

import pytest
import typer.main
from typer.core import TyperCommand, TyperGroup, TyperOption

from recon.cli.app import app


def commands(group: TyperGroup) -> dict[str, TyperCommand]:
    """Every command below a group, by its full name."""
    found: dict[str, TyperCommand] = {}
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            found |= {f"{name} {below}": each for below, each in commands(command).items()}
        else:
            assert isinstance(command, TyperCommand)
            found[name] = command
    return found


ROOT = typer.main.get_command(app)
assert isinstance(ROOT, TyperGroup)
COMMANDS = commands(ROOT)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_asks_for_no_value_and_each_option_says_what_it_is_for(name: str) -> None:
    options = [each for each in COMMANDS[name].params if isinstance(each, TyperOption)]

    assert [each.name for each in options if each.is_flag and each.metavar != ""] == []
    assert [each.name for each in options if not each.help] == []
    assert COMMANDS[name].help, f"recon {name} says nothing of itself"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fills_the_terminal_whatever_the_length_of_the_lines_in_the_code(name: str) -> None:
    paragraphs = (COMMANDS[name].help or "").split("\n\n")
    broken = [
        line for paragraph in paragraphs for line in paragraph.split("\n")[1:] if not line.startswith("Exit ")
    ]

    assert broken == []


def test_every_exit_code_has_a_line_of_its_own() -> None:
    last = (COMMANDS["backfill"].help or "").split("\n\n")[-1].split("\n")

    assert [line.partition(":")[0] for line in last] == ["Exit 0", "Exit 1", "Exit 2", "Exit 3", "Exit 75"]
