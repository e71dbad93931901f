"""Message by which an X server admits one user of this machine without a cookie.

The server reads the user of a connection from its socket (SO_PEERCRED, unix(7)), so the permission
cannot be copied as a cookie can. Such a client is a trusted one. See ChangeHosts in the X Window
System Protocol, and the type ``localuser`` of server-interpreted addresses in Xsecurity(7). Pure.
"""

import struct

REPLY_BYTES = 32

_CHANGE_HOSTS, _GET_INPUT_FOCUS = 109, 43
_INSERT, _SERVER_INTERPRETED = 0, 5
_REPLY = 1


def admission(uid: int) -> bytes:
    """Return the request that admits a user, and one whose reply comes when that is done."""
    address = b"localuser\0#%d" % uid
    padded = address + bytes(-len(address) % 4)
    head = struct.pack(
        "<BBHBxH",
        *(_CHANGE_HOSTS, _INSERT, 2 + len(padded) // 4),
        *(_SERVER_INTERPRETED, len(address)),
    )
    return head + padded + struct.pack("<BxH", _GET_INPUT_FOCUS, 1)


def admitted(reply: bytes) -> bool:
    """Return True if the first answer of the server is the reply, and no error."""
    return reply[0] == _REPLY
