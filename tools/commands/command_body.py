"""The body of a command, run to its exit status. Every error is one line."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from deskhand.desktop.errors import DesktopError, DesktopRefused
from deskhand.tools.control_plane.settings import BadSetting
from deskhand.tools.forward.errors import ForwardError

from .control_plane import NoControlPlane
from .exit_status import DONE, FAILED, INTERRUPTED, NOT_STARTED
from .terminal import print_error


def run_command(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run the body of a command and return its exit status."""

    async def done() -> int:
        await work()
        return DONE

    return run_status(done)


def run_status(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run the body of a command that returns its exit status; errors have one of their own."""
    try:
        return asyncio.run(work())
    except KeyboardInterrupt:
        print_error("interrupted")
        return INTERRUPTED
    except DesktopRefused as error:
        print_error(str(error))
        return FAILED
    except (DesktopError, ForwardError, NoControlPlane, BadSetting, OSError) as error:
        print_error(str(error))
        return NOT_STARTED
