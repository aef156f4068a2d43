"""What every test runs under: a bounded hypothesis, no network but loopback, no settings of this machine."""

import ipaddress
import os
import signal
import sys
import time

import pytest
from hypothesis import HealthCheck, settings

# Fixtures shared by several floors are plugins, so that each lives beside its subject.
pytest_plugins = ["tests.databases", "tests.sandboxes", "tests.guards"]

# default: enough to find a broken law, little enough for every change. long: before a release, or after a
# change to the diff; HYPOTHESIS_PROFILE=long, and RECON_TEST_EXAMPLES for another number.
# A shared machine is slow for reasons that are not a property's: no deadline.
settings.register_profile(
    "default", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile(
    "long", settings.get_profile("default"), max_examples=int(os.environ.get("RECON_TEST_EXAMPLES", "20000"))
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Where the test run itself is told something, not the product.
OURS = ("RECON_TEST_", "RECON_CHROMIUM")
LOOPBACK_NAMES = {"", "localhost", "localhost.localdomain"}
LOOPBACK = "localhost,127.0.0.1,::1"


def forget_this_machine() -> None:
    """Leave no setting of the person's shell for the product to find; loopback goes through no proxy."""
    for name in list(os.environ):
        if name.startswith(("RECON_", "STRIPE_", "SLACK_", "STREAMLIT_")) and not name.startswith(OURS):
            del os.environ[name]
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = LOOPBACK
    os.environ["TZ"] = "Pacific/Auckland"  # Far from UTC: a naive time shows.
    time.tzset()


def hear_interrupts() -> None:
    """Let processes that a test starts hear Ctrl-C, also where a shell started the tests behind it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_loopback(host: object) -> bool:
    """Whether a host, as the socket module takes it, is this machine; None is "any of mine"."""
    if isinstance(host, bytes):
        host = host.decode()
    if host is None or host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def refuse_the_world(event: str, args: tuple[object, ...]) -> None:
    """Fail a test that looks up or reaches another machine; no library gets around an audit hook."""
    if event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = args[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(args[1], tuple):
        host = args[1][0]  # Paths of unix sockets are not tuples.
    else:
        return
    if not is_loopback(host):
        pytest.fail(f"A test may reach loopback only, and this one wanted {host!r} ({event}).")


forget_this_machine()
hear_interrupts()
sys.addaudithook(refuse_the_world)
