import os
import socket

import pytest

OTHER_MACHINE = "192.0.2.1"  # https://www.rfc-editor.org/rfc/rfc5737: for documentation, answers nobody.


def test_another_machine_is_refused() -> None:
    with pytest.raises(pytest.fail.Exception, match="loopback only"):
        socket.create_connection((OTHER_MACHINE, 80), timeout=0.1)


def test_looking_up_a_name_is_refused() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"api\.example\.com"):
        socket.getaddrinfo("api.example.com", 443)


def test_loopback_is_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        reached = client.getpeername()

        assert reached == server.getsockname()


def test_settings_of_the_shell_are_not_seen() -> None:
    seen = [
        name for name in os.environ if name in {"STRIPE_API_KEY", "SLACK_BOT_TOKEN", "RECON_DATABASE_URL"}
    ]

    assert seen == []
