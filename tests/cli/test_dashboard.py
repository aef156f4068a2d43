import os
import socket
import sys
from pathlib import Path

import pytest

from recon.cli.dashboard import elsewhere, environment, serving
from recon.cli.main import main
from recon.model.settings import DashboardSettings, Secret, Settings, SignInSettings


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_is_served_on_the_address_and_port_of_the_settings(address: str) -> None:
    command = serving(DashboardSettings(address=address, port=8601))

    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert Path(command[4]).name == "served.py"
    assert command[command.index("--server.address") + 1] == address
    assert command[command.index("--server.port") + 1] == "8601"


def test_a_port_on_the_command_line_wins() -> None:
    command = serving(DashboardSettings(port=8601), 8602)

    assert command[command.index("--server.port") + 1] == "8602"


@pytest.mark.parametrize(
    "settings, port, said",
    [
        (DashboardSettings(), None, False),
        (DashboardSettings(), 8501, False),
        (DashboardSettings(), 8610, True),
        (DashboardSettings(port=8610), None, True),
        (DashboardSettings(port=8610, url="http://localhost:8610"), None, False),
        (DashboardSettings(address="::1", url="http://[::1]"), None, True),
        (DashboardSettings(address="::1", url="http://[::1]"), 80, False),
        (DashboardSettings(url="https://desk.example.com"), 8610, False),
        (DashboardSettings(mode="proxy", url="https://localhost"), 8610, False),
    ],
)
def test_where_messages_lead_elsewhere_it_is_said(
    settings: DashboardSettings,
    port: int | None,
    said: bool,  # noqa: FBT001 -- pytest passes it by name
) -> None:
    found = elsewhere(settings, port)

    assert (found is not None) == said


def test_what_leads_elsewhere_is_said_before_the_desk_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execve", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["recon", "dashboard", "--port", str(port)])

    with pytest.raises(SystemExit):
        main()

    assert capsys.readouterr().err == (
        f"recon: links in messages lead to http://127.0.0.1:8501, and the desk is on port {port}: where that"
        " is to last, set dashboard.url and dashboard.port in recon.toml.\n"
    )


def test_where_people_sign_in_the_server_answers_to_the_desks_name() -> None:
    command = serving(DashboardSettings(mode="oidc", url="https://desk.example.com:8443"))

    assert command[command.index("--server.allowedHosts") + 1] == "desk.example.com"
    assert "--server.allowedHosts" not in serving(DashboardSettings())


def test_streamlit_signs_with_our_secret_and_reads_the_cookies_of_a_sign_in() -> None:
    settings = Settings(sign_in=SignInSettings(cookie_secret=Secret("s" * 32)))

    found = environment(settings, {"HOME": "/root", "STREAMLIT_SERVER_COOKIE_SECRET": "another"})

    assert found == {
        "HOME": "/root",
        "STREAMLIT_SERVER_COOKIE_SECRET": "s" * 32,
        "WEBSOCKETS_MAX_LINE_LENGTH": "65536",
    }


def test_without_a_secret_of_ours_streamlit_makes_its_own() -> None:
    told = {"WEBSOCKETS_MAX_LINE_LENGTH": "9000"}

    assert environment(Settings(), told) == told


@pytest.mark.parametrize(
    "told, said",
    [
        ('address = "0.0.0.0"', "loopback only"),
        ('mode = "oidc"\nurl = "https://desk.example.com"', "RECON_OIDC_CLIENT_SECRET"),
        ('mode = "proxy"\nurl = "https://desk.example.com"', "RECON_PROXY_SECRET"),
        ('mode = "open"', "dashboard.mode"),
    ],
)
def test_a_way_in_that_lacks_something_is_one_sentence_and_2_and_nothing_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], told: str, said: str
) -> None:
    (tmp_path / "recon.toml").write_text(f"[dashboard]\n{told}\n")
    monkeypatch.setenv("RECON_CONFIG", str(tmp_path))
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("It was served."))
    monkeypatch.setattr(sys, "argv", ["recon", "dashboard"])

    with pytest.raises(SystemExit) as ended:
        main()

    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert len(printed.err.splitlines()) == 1
    assert said in printed.err


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
