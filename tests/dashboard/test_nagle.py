"""What a server of the desk's listens on sends at once, although Streamlit's sockets name no protocol."""

import socket
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter

import pytest
from streamlit import file_util

from dashboard import nagle
from tests.served import SECONDS, served


def _delays(listening: socket.socket) -> bool:
    with socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            return not accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_what_is_accepted_afterwards_is_sent_at_once() -> None:
    before = nagle.switch_off()
    with socket.socket() as listening, socket.socket() as idle, Path(__file__).open("rb"):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert (listening.proto, _delays(listening)) == (0, True)

        assert nagle.switch_off() == before + 1
        assert not _delays(listening)
        assert not idle.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_no_descriptor_is_left_open() -> None:
    def count() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    before = count()
    nagle.switch_off()

    assert count() == before


def test_where_descriptors_cannot_be_listed_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nagle, "_OPEN", tmp_path / "none")

    assert nagle.switch_off() == 0


def test_a_served_desk_makes_nobody_wait_for_the_second_part_of_a_small_answer(tmp_path: Path) -> None:
    small = next((Path(file_util.get_static_dir()) / "static/js").glob("types.*.js")).name
    waits = []
    with served(tmp_path, {"RECON_DATABASE_URL": f"sqlite:///{tmp_path / 'books.db'}"}) as address:
        line = HTTPConnection(address.removeprefix("http://"), timeout=SECONDS)
        for _ in range(60):
            line.request("GET", f"/static/js/{small}")
            answer = line.getresponse()
            began = perf_counter()
            assert answer.read()
            waits.append(perf_counter() - began)
        line.close()

    # Whoever begins a connection confirms at once; later it takes Linux 40 ms, each time.
    assert min(waits[30:]) < 0.02
