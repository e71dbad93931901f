"""``deskhand desktop``, started as the fork server starts desktops.

    OPENBLAS_NUM_THREADS=1 python -P -m tests.system.forked ROOM desktop [OPTIONS]

``ROOM`` is an argument whose memory holds the command lines of the processes. Their descriptors are
those of this process, which stays the parent of the keeper: it passes signals on, and exits with
the same status.
"""

import os
import signal
import sys

from deskhand.desktop.client.command import service_command
from deskhand.desktop.fork_server.loaded_files import LoadedFiles
from deskhand.desktop.fork_server.process_title import ProcessTitle
from deskhand.desktop.fork_server.server import DesktopForks
from deskhand.desktop.launch.signals import ENDING
from deskhand.desktop.service.preload import load_first_uses


def main() -> int:
    """Fork a keeper, and wait for its end."""
    load_first_uses()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    begin, begins = os.pipe()
    os.write(begins, b"1")
    listening = os.open(os.devnull, os.O_RDONLY)
    server = DesktopForks(LoadedFiles.now(), ProcessTitle())
    request = {"command": service_command(*sys.argv[3:])}
    answer, pidfd = server.fork(request, [listening, 0, 1, 2, begin])
    if pidfd is None:
        raise RuntimeError(answer)
    os.close(1)
    for number in ENDING:
        signal.signal(number, lambda number, _: signal.pidfd_send_signal(pidfd, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    return os.waitstatus_to_exitcode(os.waitpid(answer["pid"], 0)[1])


if __name__ == "__main__":
    sys.exit(main())
