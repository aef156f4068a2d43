"""A guard made from settings begins on tables of its own version, or says what to run."""

from pathlib import Path

import pytest
from sqlalchemy import text

from recon.doors import config
from recon.doors.store.engines import Database
from recon.guard import Guard, RefundTool
from recon.model.errors import ConfigurationError
from recon.model.settings import Settings

TOOL = (
    '[tools.send_letter]\ntitle = "Letter"\neffect = "side_effect"\nkey = ["order"]\nfingerprint = ["to"]\n'
)


def settings(url: str, folder: Path) -> Settings:
    (folder / "tools.toml").write_text(
        TOOL + '[tools.refund_order]\ntitle = "Refund"\neffect = "side_effect"\n'
        'key = ["order_id", "reference"]\nrepeat = "reference"\nfingerprint = ["payment"]\n'
    )
    return config.load({"RECON_DATABASE_URL": url, "STRIPE_API_KEY": "sk_test_1"}, folder)


def make(told: Settings) -> None:
    """Make both kinds of guard."""
    Guard.from_settings("send_letter", lambda *_: "1", settings=told).close()
    RefundTool.from_settings(told).close()


def test_a_database_that_was_never_upgraded_is_refused_at_the_start(tmp_path: Path) -> None:
    told = settings(f"sqlite:///{tmp_path / 'recon.db'}", tmp_path)
    with pytest.raises(ConfigurationError, match="run recon db upgrade"):
        Guard.from_settings("send_letter", lambda *_: "1", settings=told)
    with pytest.raises(ConfigurationError, match="run recon db upgrade"):
        RefundTool.from_settings(told)


@pytest.mark.parametrize("change", ["DROP TABLE switches", "ALTER TABLE guarded DROP COLUMN misses"])
def test_so_is_one_of_another_version(
    change: str, database: Database, database_url: str, tmp_path: Path
) -> None:
    told = settings(database_url, tmp_path)
    make(told)
    with database.write() as connection:
        connection.execute(text(change))

    with pytest.raises(ConfigurationError, match="run recon db upgrade"):
        make(told)


def test_one_that_is_away_may_come_back(tmp_path: Path) -> None:
    make(settings("postgresql://recon@127.0.0.1:1/recon", tmp_path))
