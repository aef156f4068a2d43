import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from recon.cli.dashboard import serving
from recon.cli.main import main
from recon.model.errors import ConfigurationError
from recon.model.settings import DashboardSettings


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_is_served_on_the_address_and_port_of_the_settings(address: str) -> None:
    command = serving(DashboardSettings(address=address, port=8601))

    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert Path(command[4]).name == "app.py"
    assert command[command.index("--server.address") + 1] == address
    assert command[command.index("--server.port") + 1] == "8601"


def test_a_port_on_the_command_line_wins() -> None:
    command = serving(DashboardSettings(port=8601), 8602)

    assert command[command.index("--server.port") + 1] == "8602"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.7", "desk.example", ""])  # noqa: S104 -- refused
def test_local_mode_listens_nowhere_else(address: str) -> None:
    with pytest.raises(ConfigurationError, match="loopback only"):
        serving(DashboardSettings(address=address))


def test_another_mode_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"dashboard\.mode"):
        serving(DashboardSettings(mode="open"))


def test_beyond_loopback_the_command_says_one_sentence_and_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "recon.toml").write_text('[dashboard]\naddress = "0.0.0.0"\n')
    environment = os.environ | {"RECON_CONFIG": str(tmp_path)}

    ended = subprocess.run(
        [sys.executable, "-m", "recon.cli.main", "dashboard"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert "loopback" in ended.stderr


def test_a_port_that_is_taken_is_one_sentence_and_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys, "argv", ["recon", "dashboard", "--port", str(port)])
        with pytest.raises(SystemExit) as ended:
            main()

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        f"recon: Expected to listen on 127.0.0.1:{port}, found address already in use: choose another"
        " --port.\n"
    )
