from pathlib import Path

from tests.bench import books, profile


def test_every_stage_of_a_diff_is_timed(tmp_path: Path) -> None:
    files = books.write(1000, tmp_path)

    seconds = profile.stages(lambda: profile.whole(*files))

    assert all(seconds.values()), seconds
    parts = [name for depth, name, _, _ in profile.STAGES if depth == 0]
    assert 0.5 < sum(seconds[name] for name in parts) / seconds["all"] <= 1
    assert len(profile.table(seconds).splitlines()) == len(seconds)
