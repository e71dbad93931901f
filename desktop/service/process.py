"""The process of one desktop service."""

import asyncio
import importlib
import locale
import os
import pwd
import secrets
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

from deskhand.desktop.errors import DesktopError
from deskhand.desktop.isolation.account import (
    USER_LOCKS,
    become,
    claimed,
    end_with_parent,
    user_numbers,
)
from deskhand.desktop.isolation.data_dir import Folder, open_root, run_root
from deskhand.desktop.isolation.user_processes import evict
from deskhand.desktop.keeper import KEEPER
from deskhand.desktop.settings import DesktopSettings
from deskhand.desktop.x11.connection import connect
from deskhand.vncbridge.errors import CannotListen
from deskhand.vncbridge.server.server import listening, parse_address

from . import own_display as service
from .leftovers import alive, sweep

NOT_STARTED = 4


def run(settings: DesktopSettings) -> int:
    """Run the service until it is asked to end; return the exit status."""
    _speak(settings)
    try:
        if settings.attach is not None:
            return _attach(settings, settings.attach, os.getppid())
        return _serve(settings, os.getppid())
    except (DesktopError, CannotListen, OSError) as error:
        print(f"deskhand: {error}", file=sys.stderr)  # noqa: T201 - this is a command line
        return NOT_STARTED


def _serve(settings: DesktopSettings, parent: int) -> int:
    instance = secrets.token_hex(8)
    root = run_root(os.geteuid(), os.environ)
    folder = Folder(settings.folder or root / instance[:8])
    numbers = user_numbers(os.environ)
    with ExitStack() as stack:
        open_root(root)
        sweep(root, numbers)
        stack.enter_context(alive(root, instance, folder))
        account = stack.enter_context(claimed(settings.user, USER_LOCKS, numbers))
        folder.make(account)
        stack.callback(folder.clear)
        if account.numbered:
            # Nobody else works as this user: what runs as it was left by a desktop, as a spy.
            evict(account.uid)
            stack.callback(evict, account.uid)
        bound, address = stack.enter_context(listening(parse_address(settings.listen)))
        token = _token(settings.token_file)
        # From here on nothing of ours may have to be read from disk: the checkout may lie where
        # the desktop's user cannot look.
        loaded = service.preload()
        become(account)
        end_with_parent(parent)
        os.chdir(folder.path)
        os.umask(0o077)
        kept = os.environ.get(KEEPER) == str(parent)
        process = parent if kept else os.getpid()
        desk = service.Service(settings, folder, account, instance, token, process, loaded)
        asyncio.run(desk.run(bound, address))
    return 0


def _attach(settings: DesktopSettings, display: str, parent: int) -> int:
    """Serve a screen that exists already, with the rights and the session of who asked for it."""
    instance = secrets.token_hex(8)
    root = run_root(os.geteuid(), os.environ)
    folder = Folder(settings.folder or root / instance[:8])
    numbers = user_numbers(os.environ)
    with ExitStack() as stack:
        open_root(root)
        sweep(root, numbers)
        stack.enter_context(alive(root, instance, folder))
        own = pwd.getpwuid(os.geteuid()).pw_name
        account = stack.enter_context(claimed(own, USER_LOCKS))
        folder.make(account)
        stack.callback(folder.clear)
        bound, address = stack.enter_context(listening(parse_address(settings.listen)))
        token = _token(settings.token_file)
        end_with_parent(parent)
        if display:
            os.environ["DISPLAY"] = display
        # Without such a file PyAutoGUI cannot be imported, even where no cookie is needed.
        authority = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
        if not authority.exists():
            authority = folder.path / "Xauthority"
            authority.touch(0o600)
        os.environ["XAUTHORITY"] = str(authority)
        connect(os.environ.get("DISPLAY", ""), authority).disconnect()
        # It looks for its display while it is loaded, and speaks on our standard output.
        with redirect_stdout(sys.stderr):
            attachment = importlib.import_module("deskhand.desktop.service.attached_screen")
        desk = attachment.Attachment(settings, folder, account, instance, token)
        asyncio.run(desk.run(bound, address))
    return 0


def _speak(settings: DesktopSettings) -> None:
    """Put time zone and language into the environment, of which children inherit them."""
    if settings.timezone:
        os.environ["TZ"] = settings.timezone
    if settings.locale:
        os.environ.pop("LC_ALL", None)
        os.environ["LANG"] = settings.locale
        # A language that is not installed is still that of programs with words of their own, as
        # browsers are; the C library would fall back to ASCII.
        os.environ["LC_CTYPE"] = settings.locale if _installed(settings.locale) else "C.UTF-8"


def _installed(name: str) -> bool:
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_CTYPE, before)
    return True


def _token(file: Path | None) -> str:
    if file is None:
        return service.new_token()
    token = file.read_text().strip()
    if not token:
        raise OSError(f"{file} holds no token")
    return token
