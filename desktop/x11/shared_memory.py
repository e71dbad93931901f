"""System V shared memory segment, for the MIT-SHM extension (shmget(2))."""

import ctypes
import os
from types import TracebackType
from typing import Self

import numpy as np
from numpy.ctypeslib import as_array
from numpy.typing import NDArray

# Constants of <sys/ipc.h>.
_IPC_PRIVATE = 0
_IPC_CREAT = 0o1000
_IPC_RMID = 0
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
_libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_libc.shmat.restype = ctypes.c_void_p
_libc.shmdt.argtypes = (ctypes.c_void_p,)
_libc.shmctl.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p)


class Segment:
    """Memory that another process of the same user attaches by ``identifier``.

    ``array`` must not be used after ``close``.
    """

    def __init__(self, size: int) -> None:
        self.identifier: int = _libc.shmget(_IPC_PRIVATE, size, _IPC_CREAT | 0o600)
        if self.identifier < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._address = _libc.shmat(self.identifier, None, 0)
        if self._address == _FAILED:
            number = ctypes.get_errno()
            self.forget()
            raise OSError(number, os.strerror(number))
        buffer = (ctypes.c_uint8 * size).from_address(self._address)
        self.array: NDArray[np.uint8] = as_array(buffer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def forget(self) -> None:
        """Mark the segment: the kernel frees it after the last detach, even after a crash."""
        _libc.shmctl(self.identifier, _IPC_RMID, None)

    def close(self) -> None:
        """Detach the segment; twice is fine."""
        if self._address is not None:
            _libc.shmdt(self._address)
            self._address = None
