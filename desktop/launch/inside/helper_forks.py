"""The fork server of agent helpers, in a process that init forks.

It keeps root's rights inside the desktop. It loads the helper's modules while the service loads its
own, and so before the rest of the machine is hidden. As a copy of init it shares init's memory.
"""

import os
import signal

from deskhand.desktop.agent_helper.worker.process import fork_helpers
from deskhand.desktop.launch.namespaces import enter

from .programs import namespaces_of


def serve(control: int, service: int) -> None:
    """Fork helpers on requests of the service, in the namespaces that it has entered; then exit.

    ``control`` is the number of the socket for requests.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    os.close(null)
    os.chdir("/")
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    fork_helpers(control, lambda: _join(service))


def _join(service: int) -> None:
    for namespace in namespaces_of(service):
        enter(namespace)
        os.close(namespace)
