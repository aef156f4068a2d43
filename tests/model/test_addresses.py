import pytest

from recon.model.addresses import loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_is_known_by_its_loopback(host: str) -> None:
    assert loopback(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.7", "desk.example", "localhost.example", "", None, "127.0.0.1.example"],  # noqa: S104
)
def test_whatever_else_there_is_may_be_elsewhere(host: str | None) -> None:
    assert not loopback(host)
