"""`recon lint` as a person, a hook and a program start it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recon.cli import lint
from recon.model.errors import UnusableInput
from recon.model.records.flaws import Rule
from recon.rules.lint import finding
from tests.house import tree

BAD = "import stripe\nstripe.Refund.create(charge='ch_1')\n"
GOOD = "import stripe\nstripe.Refund.create(charge='ch_1', idempotency_key=intent.key)\n"
WHY = (
    "There is no idempotency key for stripe.Refund.create, so that whoever calls it again moves "
    "the money again; give it an idempotency key: build it from the order and its reference, or pass the "
    "stored intent's key."
)


def started(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command as a process."""
    return subprocess.run(
        [sys.executable, "-m", "recon.cli.main", "lint", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(tree.ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def write(folder: Path, **files: str) -> None:
    """Files by their names, in which two underscores stand for a dot."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


def test_findings_are_lines_with_their_place(tmp_path: Path) -> None:
    write(tmp_path, a__py=BAD, b__py=GOOD, c__md="If the refund fails, try again.\n")

    done = started(".", cwd=tmp_path)

    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first == f"a.py:2:1: missing-key: {WHY}"
    assert second.startswith("c.md:1:22: prompt-retry: ")
    assert done.stderr == "recon: 2 findings in 2 of 3 files.\n"


def test_nothing_found_is_zero(tmp_path: Path) -> None:
    write(tmp_path, b__py=GOOD)

    done = started("b.py", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "recon: 0 findings in 0 of 1 files.\n")


def test_one_finding_is_counted_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, a__py=BAD)

    assert lint.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == "recon: 1 finding in 1 of 1 files.\n"


def test_it_loads_no_frames_and_no_front(tmp_path: Path) -> None:
    write(tmp_path, b__py=GOOD)
    script = (
        "import sys\nsys.argv = ['recon', 'lint', 'b.py']\nfrom recon.cli import main\n"
        "try:\n    main.main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'pandas', 'pyarrow', 'numpy', 'typer', 'rich', 'sqlalchemy', 'stripe', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tree.ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == "[]\n"


def test_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, a__py=BAD, b__py="def (:\n")

    code = lint.main([str(tmp_path), "--format", "json"])

    told = json.loads(capsys.readouterr().out)
    assert code == 2
    assert told["files"] == 2
    assert told["findings"] == [
        {
            "path": str(tmp_path / "a.py"),
            "line": 2,
            "column": 1,
            "rule": "missing-key",
            "why": WHY,
        }
    ]
    assert [each["path"] for each in told["unreadable"]] == [str(tmp_path / "b.py")]


def test_for_github_what_would_end_a_field_is_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a,b:c%.py").write_text(BAD)

    assert lint.main([str(tmp_path), "--format", "github"]) == 1
    assert capsys.readouterr().out == (
        f"::error file={tmp_path}/a%2Cb%3Ac%25.py,line=2,col=1,title=recon missing-key::{WHY}\n"
    )


@pytest.mark.parametrize(
    "options, found",
    [
        ([], ["prompt-retry", "missing-key"]),
        (["--select", "missing-key"], ["missing-key"]),
        (["--select", "missing-key,prompt-retry", "--ignore", "missing-key"], ["prompt-retry"]),
        (["--ignore", "missing-key", "--ignore", "prompt-retry"], []),
        (["--exclude", "*.md"], ["missing-key"]),
        (["--exclude", "code/"], ["prompt-retry"]),
        (["--exclude", "code/*.py"], ["prompt-retry"]),
    ],
)
def test_rules_and_files_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], found: list[str]
) -> None:
    (tmp_path / "code").mkdir()
    write(tmp_path / "code", a__py=BAD)
    write(tmp_path, c__md="If the refund fails, try again.\n")

    code = lint.main([str(tmp_path), "--format", "json", *options])

    rules = [each["rule"] for each in json.loads(capsys.readouterr().out)["findings"]]
    assert (code, rules) == (int(bool(found)), found)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "There is nothing to read"),
        (["--select", "nothing", "."], "There is no rule 'nothing'"),
        (["--format", "xml", "."], "invalid choice"),
        (["--what", "."], "Unrecognized arguments: --what"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(arguments: list[str], said: str) -> None:
    with pytest.raises(UnusableInput, match=said):
        lint.main(arguments)


@pytest.mark.parametrize(
    "name, content, reason",
    [
        ("a.py", b"def (:\n", "line 1 is not Python"),
        ("a.py", b"\x00\x01\x02", "it is not text"),
        ("a.md", b"text\x00", "it is not text"),
        ("a.py", "x = 'ä'".encode("latin-1"), "it is not text"),
        ("a.py", b"# coding: no-such\nx = 1\n", "it is not text"),
        ("a.md", b"\xff\xfe\x00", "it is not text"),
        ("a.txt", b"x" * (lint.LARGEST + 1), "it is larger than 4 MB"),
        ("a.png", b"", "it ends in none of .py, "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    write(tmp_path, z__py=BAD)

    code = lint.main([str(tmp_path / name), str(tmp_path / "z.py")])

    told = capsys.readouterr()
    assert code == 2
    assert told.err.startswith(f"recon: {tmp_path / name}: {reason}")
    assert told.err.count("\n") == 2
    assert "z.py:2:1: missing-key" in told.out


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.py", b"# -*- coding: latin-1 -*-\nx = '\xe4'\n" + BAD.encode()),
        ("a.py", b"\xef\xbb\xbf" + BAD.encode()),
        ("a.py", BAD.replace("\n", "\r\n").encode()),
        ("a.md", "Für: if the refund fails, try again.".encode("latin-1")),
        ("a.md", "If the refund fails, try again.".encode("utf-16")),
        ("a.MD", b"\xef\xbb\xbfIf the refund fails,\r\ntry again."),
    ],
)
def test_other_encodings_are_read(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)

    assert lint.main([str(tmp_path)]) == 1


def test_what_is_not_there_or_no_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.py")

    assert lint.main([str(tmp_path / "gone.py"), str(tmp_path / "pipe.py")]) == 2
    assert capsys.readouterr().err.splitlines()[:2] == [
        f"recon: {tmp_path}/gone.py: No such file or directory.",
        f"recon: {tmp_path}/pipe.py: it is no file.",
    ]


def test_folders_of_tools_are_passed_over_unless_they_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (".venv", ".git", "node_modules", "__pycache__", "build", ".ruff_cache", "env"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, a__py=BAD)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "around").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")

    assert lint.main([str(tmp_path)]) == 0
    assert lint.main([str(tmp_path / ".venv"), str(tmp_path / ".venv" / "a.py")]) == 1
    assert capsys.readouterr().out.count("missing-key") == 1


def test_a_name_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a\x1b[2J.py").write_text(BAD)
    (tmp_path / "b\x1b[2J.py").write_text("def (:\n")

    lint.main([str(tmp_path)])

    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err


def test_every_rule_is_listed_with_its_reason_and_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(["--list-rules"]) == 0
    listed = capsys.readouterr().out

    assert [line for line in listed.splitlines() if line and not line.startswith(" ")] == list(Rule)
    assert lint.main(["--list-rules", "--format", "json", "--select", "missing-key"]) == 0
    (rule,) = json.loads(capsys.readouterr().out)
    assert set(rule) == {"rule", "reason", "bad", "good"}


def test_the_hook_reads_what_the_command_reads() -> None:
    lines = (tree.ROOT / ".pre-commit-hooks.yaml").read_text().splitlines()
    hook = dict(line.lstrip(" -").split(": ", 1) for line in lines if not line.startswith("#"))

    suffixes = sorted({suffix.removeprefix(".") for suffix in finding.SUFFIXES})
    assert (hook["entry"], hook["language"], hook["pass_filenames"]) == ("recon lint", "python", "true")
    assert hook["types_or"] == "[text]"
    assert hook["files"] == rf"\.({'|'.join(suffixes)})$"


def test_this_house_is_clean() -> None:
    assert started(".", cwd=tree.ROOT).stdout == ""
