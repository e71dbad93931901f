"""Continues itself by a timer whenever it is stopped, and counts in a file how often it has run.

Argument: the file, to which it appends a byte every millisecond.
"""

import ctypes
import signal
import sys
import time
from pathlib import Path

libc = ctypes.CDLL(None)
# A timer whose signal has no handler does not fire again.
signal.signal(signal.SIGCONT, lambda *_: None)
MILLISECOND = 1_000_000
# struct sigevent (sigevent(3type)): value, signal, SIGEV_SIGNAL; struct itimerspec in nanoseconds.
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
timer, times = ctypes.c_void_p(), (ctypes.c_long * 4)(0, MILLISECOND, 0, MILLISECOND)
assert libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0
assert libc.timer_settime(timer, 0, times, None) == 0
with Path(sys.argv[1]).open("wb", buffering=0) as seen:
    while True:
        seen.write(b".")
        time.sleep(0.001)
