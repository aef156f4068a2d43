"""Which machine a name or an address means, as far as that can be told without asking anybody."""

from ipaddress import ip_address


def loopback(host: object) -> bool:
    """Return whether this is certainly this machine: localhost, or an address of its loopback.

    Any other name is not: what it stands for may change.
    """
    if host == "localhost":
        return True
    try:
        return ip_address(str(host)).is_loopback
    except ValueError:  # A name, or nothing.
        return False
