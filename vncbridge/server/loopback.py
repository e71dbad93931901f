"""Which addresses to listen on no other machine reaches. Pure."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is of this machine alone; a name is not resolved."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
