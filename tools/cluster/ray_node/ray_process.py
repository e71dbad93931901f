"""Program that becomes another one, which ends with the process that has started it.

    python -S -E ray_process.py PARENT PROGRAM ARGUMENT...

Standard library only: it is started anew with Ray's processes each time.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Execute the command, which is killed when the process ``PARENT`` has ended.

    ``ray start`` has a process that kills the others a second later. After SIGTERM they would take
    half a minute, and keep the ports that the next daemon needs.
    """
    parent, *command = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It may have ended before the call.
    if os.getppid() == int(parent):
        os.execv(command[0], command)  # noqa: S606 - the command is made by `ray_command`


if __name__ == "__main__":
    main(sys.argv[1:])
