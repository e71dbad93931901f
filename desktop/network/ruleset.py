"""The nftables rules of a desktop's namespace, as text for ``nft -f -``. Pure.

Everything is refused that no rule accepts. The rules judge destinations only, on the way out: slirp
forwards no connection inwards, and a reply comes to a socket that was let out.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network

from .egress import Mode

DNS_FORWARDER = "10.0.2.3"
"""Address at which slirp4netns forwards names to the resolver of the host, slirp4netns(1)."""

PROXY_USER = 65534
"""Number of the user nobody, as which the proxy runs and no process of an agent does."""

LOG_GROUP = 1
"""The nfnetlink group of refused packets."""

_TABLE = """table inet deskhand {{
\tset refused4 {{
\t\ttype ipv4_addr
\t\tflags interval
\t\telements = {{ {networks} }}
\t}}
\tchain output {{
\t\ttype filter hook output priority 0; policy drop;
\t\tfib daddr type local accept
\t\t{reached}
\t\tgoto refused
\t}}
\tchain internet {{
\t\tip daddr {dns} udp dport 53 accept
\t\tip daddr {dns} tcp dport 53 accept
\t\tip daddr @refused4 goto refused
\t\tmeta nfproto ipv4 accept
\t}}
\tchain refused {{
\t\tlimit rate 20/second burst 50 packets log group {group} queue-threshold 1 snaplen 64
\t\tmeta l4proto tcp reject with tcp reset
\t\treject with icmpx type admin-prohibited
\t}}
}}
"""

_REACHED: dict[Mode, str] = {
    "internet": "jump internet",
    # A packet without a socket has no user and matches nothing, hence the positive form.
    "list": f"meta skuid {PROXY_USER} jump internet",
    "none": "",
}


def ruleset(mode: Mode, networks: Sequence[IPv4Network]) -> str:
    """Return the rules of a mode other than ``open``; ``networks`` are those to refuse."""
    return _TABLE.format(
        networks=", ".join(map(str, networks)),
        reached=_REACHED[mode],
        dns=DNS_FORWARDER,
        group=LOG_GROUP,
    )
