"""Owner of the other end of a local TCP connection, read from the kernel's tables. Pure.

A row of ``/proc/net/tcp`` and ``/proc/net/tcp6`` (proc_pid_net(5)) has the local and the remote
address as words of 32 bits in the byte order of the machine, the state, the owner and the inode. A
socket that its process has closed has inode 0 and shows root as its owner, so that such rows do not
count.
"""

import ipaddress
import sys
from typing import NamedTuple

_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9
_WORD = 4


class SocketAddress(NamedTuple):
    """An address and a port."""

    ip: str
    port: int


def peer_uid(tables: str, own: SocketAddress, peer: SocketAddress) -> int | None:
    """Return the user who owns the peer's end of a connection; None if no row shows it.

    ``tables`` are the texts of both files, ``own`` is the address of our end.
    """
    wanted = (_forms(peer), _forms(own))
    for line in tables.splitlines():
        fields = line.split()
        if len(fields) <= _INODE or not fields[_UID].isdecimal() or fields[_INODE] == "0":
            continue
        if fields[_LOCAL] in wanted[0] and fields[_REMOTE] in wanted[1]:
            return int(fields[_UID])
    return None


def _forms(address: SocketAddress) -> frozenset[str]:
    """Return how the tables write an address; one of IPv4 is in that of IPv6 as a mapped one."""
    packed = ipaddress.ip_address(address.ip).packed
    forms = [packed]
    if len(packed) == _WORD:
        forms.append(bytes(10) + b"\xff\xff" + packed)
    return frozenset(f"{_written(form)}:{address.port:04X}" for form in forms)


def _written(packed: bytes) -> str:
    words = [packed[start : start + _WORD] for start in range(0, len(packed), _WORD)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
