import stat
from pathlib import Path

import pytest

from recon.doors import outputs
from recon.model.errors import UnusableInput


def test_a_report_takes_the_place_of_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)

    outputs.write(path, "new\n")

    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    with pytest.raises(UnusableInput, match="cannot be written"):
        outputs.write(tmp_path / "nowhere" / "report.json", "new")
    with pytest.raises(UnicodeEncodeError):
        outputs.write(path, "\ud800")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    outputs.write(Path("/dev/null"), "gone")

    assert not Path("/dev/null").is_file()


def test_a_link_keeps_pointing(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)

    outputs.write(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"
