"""The processes of X clients that are behind a filter.

The X server knows the process of the filter only (X-Resource). The filter writes the processes of
its clients into memory that it shares with the service.
"""

import mmap
import os
import struct
from typing import Self

_MOST_CLIENTS = 2048
"""Of an X server (``-maxclients``, Xserver(1))."""
_PROCESS = struct.Struct("=i")
_BYTES = _MOST_CLIENTS * _PROCESS.size


class ClientProcesses:
    """Table of processes by the ids of the resources of their clients.

    ``mask`` is ``resource-id-mask`` of a connection's setup; a server has one for all clients.
    """

    def __init__(self, descriptor: int) -> None:
        """Take the memory at ``descriptor``, which `close` closes."""
        self.descriptor = descriptor
        self._table = mmap.mmap(descriptor, _BYTES)

    @classmethod
    def empty(cls) -> Self:
        """Return a new table.

        Raises:
            OSError: If there is no memory.
        """
        descriptor = os.memfd_create("x-clients")
        try:
            os.ftruncate(descriptor, _BYTES)
            return cls(descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    def close(self) -> None:
        """Give up the memory."""
        self._table.close()
        os.close(self.descriptor)

    def note(self, resource: int, mask: int, process: int) -> None:
        """Keep the process of the client that has a resource; 0 for none."""
        if (place := _place(resource, mask)) is not None:
            _PROCESS.pack_into(self._table, place, process)

    def find(self, resource: int, mask: int) -> int:
        """Return the process of the client that has a resource; 0 if it is not behind a filter."""
        place = _place(resource, mask)
        return 0 if place is None else int(_PROCESS.unpack_from(self._table, place)[0])

    def clear(self) -> None:
        """Forget all clients, such as those of a filter that has ended."""
        self._table[:] = bytes(_BYTES)


def _place(resource: int, mask: int) -> int | None:
    """Return the offset in the table; None for ids that no client has."""
    client = resource >> mask.bit_length()
    return client * _PROCESS.size if 0 < client < _MOST_CLIENTS else None
