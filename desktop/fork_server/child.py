"""The copies of the fork server: the keeper of a desktop and, forked by init, its service."""

import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NoReturn

from deskhand.desktop import __main__ as service
from deskhand.desktop.launch import keeper
from deskhand.desktop.launch.inside.execution import close_all_except, reset_signals
from deskhand.desktop.launch.separation import SERVICE, listening_descriptors
from deskhand.desktop.launch_port.launch_port import LISTENING, ONE_THREAD

from .process_title import ProcessTitle


def become_keeper(command: list[str], descriptors: Sequence[int], title: ProcessTitle) -> NoReturn:
    """Keep a desktop in this process, a new copy of the fork server, and exit with its status.

    ``command`` is the command line of a keeper, ``descriptors`` are those of the request. Nothing
    happens if the client closes its end of the pipe, the last of them, without writing to it.
    """
    _exit_with(partial(_keep, command, descriptors, title))


def _keep(command: list[str], descriptors: Sequence[int], title: ProcessTitle) -> int:
    *files, begin = descriptors
    if not os.read(begin, 1):
        return 0
    _as_started()
    _place(files)
    os.setsid()
    title.set(command)
    os.environ.pop(ONE_THREAD, None)
    of_service = command[command.index(SERVICE) - 3 :]
    return keeper.exit_code(keeper.keep(of_service, start=partial(fork_service, title)))


def fork_service(
    title: ProcessTitle,
    command: list[str],
    environment: Mapping[str, str],
    passed: Collection[int],
) -> int:
    """Start the service as a copy of this process, which is its keeper or init.

    A ``StartService`` for one title.
    """
    waiting = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _exit_with(partial(_serve, title, command, environment, passed))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, waiting)
    return pid


def _serve(
    title: ProcessTitle,
    command: list[str],
    environment: Mapping[str, str],
    passed: Collection[int],
) -> int:
    _as_started()
    close_all_except({0, 1, 2, *listening_descriptors(command), *passed})
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [SERVICE, *command[command.index(SERVICE) + 1 :]]
    title.set(command)
    return service.main()


def _as_started() -> None:
    """Set the effects of signals as the interpreter does when it starts."""
    reset_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    # Only now: before, a signal would have had the effect that it has for the parent.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _place(files: Sequence[int]) -> None:
    """Give the listening socket and the standard files their numbers; close all others."""
    listening, token, ready, log = files
    # Out of the way first: a source may have the number of another one's target.
    sources = [os.dup(one) for one in (token, ready, log, listening)]
    for number, source in enumerate(sources):
        os.dup2(source, number)
    close_all_except({0, 1, 2, LISTENING})


def _exit_with(run: Callable[[], int]) -> NoReturn:
    status = 1
    try:
        status = run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        # Nothing else reports it: this is the main function of a process.
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
