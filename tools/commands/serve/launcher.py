"""`deskhand launcher`: the launcher as a unit of its own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deskhand.desktop.isolation.data_dir import open_root, run_root
from deskhand.tools.commands.exit_status import DONE, NOT_STARTED
from deskhand.tools.commands.terminal import START_ERRORS, check_data_dir, print_error
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.process_user import ProcessUser, process_user
from deskhand.tools.control_plane.service.launching import launcher_configuration, make_sockets
from deskhand.tools.service_manager.standing_launcher import serve


def main(path: Path, flags: Mapping[str, Any]) -> int:
    """Serve control planes until SIGTERM; return the exit status."""
    try:
        settings = read_settings(flags)
        check_data_dir(settings.data_dir)
        user = process_user(settings.run_as, settings.data_dir)
        if not isinstance(user, ProcessUser):
            because = "it needs root" if user is None else f"{user.because}; {user.remedy}"
            print_error(f"the launcher cannot start: {because}")
            return NOT_STARTED
        root = run_root(0, os.environ)
        kept = open_root(root)
        try:
            make_sockets(root, user)
            serve(path, user, launcher_configuration(settings, root), os.environ)
        finally:
            os.close(kept)
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED
    return DONE
