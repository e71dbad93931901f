"""Addresses of the public internet, and the ranges that are not. Pure.

The egress of desktops, notifications and OSWorld's downloads judge by these ranges. A desktop's
programs get a copy of this file, so it needs the standard library only.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

SPECIAL = tuple(
    IPv4Network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        # The host of an Azure virtual machine; all the others serve metadata in a range above.
        "168.63.129.16/32",
    )
)
"""Ranges of RFC 6890 that belong to a host, to its neighbours or to no one."""

_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""The only range that IANA allocates to networks of the internet."""
_SPECIAL6 = tuple(
    # Protocol assignments with Teredo, and documentation (RFC 6890, RFC 9637).
    IPv6Network(one)
    for one in ("2001::/23", "2001:db8::/32", "3fff::/20")
)
_NAT64 = IPv6Network("64:ff9b::/96")
"""Its last four bytes are an IPv4 address (RFC 6052); in 64:ff9b:1::/48 each network decides."""


def is_public(address: str) -> bool:
    """Return whether an address belongs to the public internet; a name or a zone does not.

    An IPv6 address by which a translator or a tunnel reaches an IPv4 address is judged by that.
    """
    try:
        found: IPv4Address | IPv6Address = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return False
        inner = _inner(found)
        if inner is None:
            return found in _GLOBAL_UNICAST and not any(found in one for one in _SPECIAL6)
        found = inner
    return not any(found in one for one in SPECIAL)


def _inner(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour
