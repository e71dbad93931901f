"""`deskhand up`: the control plane."""

import asyncio
import contextlib
import getpass
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.isolation.privileges import hide_from_own_user
from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.desktop.server_trust.server_trust import ServerTrust
from deskhand.tools.control_plane.data_dir_lock import held
from deskhand.tools.control_plane.permissions import close_to_others
from deskhand.tools.control_plane.process_user import ProcessUser, acting_as, become_user
from deskhand.tools.control_plane.service.launching import DesktopLaunching, launching
from deskhand.tools.control_plane.service.wiring import ControlPlane, control_plane
from deskhand.tools.control_plane.settings import Settings, check_plane
from deskhand.tools.fleet.errors import LauncherEnded
from deskhand.tools.remote_access.certificate import ServerCertificate
from deskhand.tools.remote_access.exposure import check_exposure, local_host, ssh_forward
from deskhand.tools.remote_access.remote_access import remote_access
from deskhand.tools.secrets.keys import keys_of
from deskhand.tools.service_manager.credentials import credential_variables, forget_secrets
from deskhand.tools.service_manager.notification import READY, STOPPING, notify
from deskhand.tools.store.private_file import write_private
from deskhand.vncbridge.errors import CannotListen
from deskhand.vncbridge.server.server import (
    Address,
    Serving,
    listening,
    parse_address,
    raise_descriptor_limit,
)
from deskhand.vncbridge.server.standard_input import ending_with_input

from .rights import user_to_become
from .terminal import START_ERRORS, check_data_dir, print_error, print_json, print_line
from .terminal import settings as read_settings

NOT_STARTED = 4
PORTS_TRIED = 20


@dataclass(frozen=True)
class Running:
    """A control plane that accepts requests."""

    control_plane: ControlPlane
    address: Address
    server: Serving
    certificate: Path | None = None
    """The server's certificate, if it uses TLS, for clients of this machine."""

    async def link(self) -> str:
        """Return a sign-in link that works once."""
        code = await self.control_plane.credentials.new_code()
        return f"{self.address.page_url}/login#code={code}"

    @property
    def local_url(self) -> str:
        """The address for programs of this machine."""
        return local_address(self.address).url

    def client(self) -> DesktopClient:
        """Return a client with all rights."""
        trust = ServerTrust(certificate=str(self.certificate)) if self.certificate else None
        return DesktopClient(self.local_url, self.control_plane.token, trust)


def main(
    flags: Mapping[str, Any],
    token_file: Path | None,
    as_json: bool,
    until_input_ends: bool = False,
) -> int:
    """Serve until a signal or request to end; return the exit status.

    ``until_input_ends``: serve until the end of the standard input, with which a starter ends.
    """
    if token_file is not None:
        # With another user the control plane leaves the present directory.
        token_file = token_file.absolute()
    try:
        os.environ.update(credential_variables(os.environ))
        asyncio.run(_serve(flags, token_file, as_json, until_input_ends))
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED
    return 0


async def _serve(
    flags: Mapping[str, Any], token_file: Path | None, as_json: bool, until_input_ends: bool
) -> None:
    async with running(read_settings(flags), token_file, flags.get("listen") is None) as found:
        # Everything that was in them has been read.
        forget_secrets(os.environ)
        if as_json:
            token = found.control_plane.token
            print_json({"url": found.local_url, "token": token, "pid": os.getpid(),
                      "version": version("deskhand")})  # fmt: skip
        elif not found.address.page_url:
            print_line(f"Deskhand is at {found.address.url}, for programs; browsers need HOST:PORT")
        else:
            print_line(f"Deskhand is at {await found.link()}")
            print_line(
                f"  model: {found.control_plane.models.usual()}; Ctrl-C ends it and its desktops"
            )
            if forward := _ssh_forward(found.address):
                print_line(f"  from your machine: {forward}")
        end = found.server.ask_to_end
        async with ending_with_input(end) if until_input_ends else nullcontext():
            # `run_until_asked` handles the signals; this only has to leave the block after them.
            await found.server.asked.wait()


def _ssh_forward(address: Address) -> str | None:
    """Return the command that forwards our port to the machine of the person, over SSH."""
    connection = os.environ.get("SSH_CONNECTION", "")
    if address.public or not connection:
        return None
    return ssh_forward(connection, getpass.getuser(), address.host, address.port)


@asynccontextmanager
async def running(
    settings: Settings, token_file: Path | None = None, any_port: bool = False
) -> AsyncIterator[Running]:
    """Serve a control plane while the block runs; it accepts requests when the block begins.

    ``any_port``: if the port is taken, use the next free one.

    Raises:
        BadSetting: If its settings need another one.
        BadDataDir: If it cannot be written.
        AlreadyRunning: If another control plane uses it.
        CannotListen: If the address is taken.
    """
    # At level shared an agent has the user of this process.
    hide_from_own_user()
    check_plane(settings)
    check_data_dir(settings.data_dir)
    raise_descriptor_limit()
    keys = keys_of(settings.data_dir, os.environ)
    chosen = user_to_become(settings, keys, token_file)
    user = chosen if isinstance(chosen, ProcessUser) else None
    with ExitStack() as stack:
        # Another user may have left links in a directory of its own.
        with acting_as(user):
            for found in close_to_others(settings.data_dir):
                print_error(str(found))
            # The lock precedes the port: a second control plane on the same data must fail, not
            # take the next free port.
            stack.enter_context(held(settings.data_dir))
        bound, address = stack.enter_context(_bound(settings, any_port))
        # Root may read the key; the user that it becomes may not.
        tls = ServerCertificate(settings.tls_cert, settings.tls_key) if address.tls else None
        launched = stack.enter_context(launching(settings, os.environ, user))
        if user is not None:
            become_user(user)
        async with control_plane(settings, address, launched, keys, token_file, chosen) as opened:
            ready = asyncio.Event()
            context = tls.context if tls is not None else None
            server = Serving(opened.app, ready.set, opened.closing.set, tls=context)
            serving = asyncio.create_task(server.run_until_asked(bound), name="serve")
            try:
                await _wait_ready(ready.wait(), serving)
                # Clients find the address only after the server accepts requests.
                with _announced(settings, address, token_file, tls) as certificate:
                    notify(READY)
                    await _prepare(launched)
                    yield Running(opened, address, server, certificate)
            finally:
                notify(STOPPING)
                server.ask_to_end()
                await serving


async def _prepare(launched: DesktopLaunching) -> None:
    # Without its launcher a control plane still shows what there is.
    with contextlib.suppress(LauncherEnded, OSError):
        await asyncio.to_thread(launched.client.prepare)


async def _wait_ready(event: Any, serving: asyncio.Task[None]) -> None:
    waiting = asyncio.ensure_future(event)
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    # The server has ended before it was ready: ``result`` raises its error.
    if not waiting.done():
        waiting.cancel()
        serving.result()


@contextlib.contextmanager
def _bound(settings: Settings, any_port: bool) -> Any:
    wanted = parse_address(settings.listen)
    tls = bool(settings.tls_cert)
    check_exposure(wanted.host, tls=tls, insecure=settings.insecure)
    access = remote_access(settings)
    public = access.public.text if access.public is not None else ""
    for attempt in range(PORTS_TRIED):
        tried = Address(wanted.host, wanted.port + attempt, wanted.path)
        with contextlib.ExitStack() as stack:
            try:
                found: tuple[socket, Address] = stack.enter_context(listening(tried))
            except CannotListen:
                # An address that the user named is never replaced by another one.
                if not any_port or wanted.path is not None or attempt == PORTS_TRIED - 1:
                    raise
                continue
            bound, address = found
            yield bound, replace(address, tls=tls, public=public)
            return


def local_address(address: Address) -> Address:
    """Return the address for programs of this machine, of one that all machines reach."""
    return replace(address, host=local_host(address.host)) if address.host else address


@contextlib.contextmanager
def _announced(
    settings: Settings, address: Address, token_file: Path | None, tls: ServerCertificate | None
) -> Any:
    """Publish the address for client commands in a file, while the block runs."""
    file = settings.data_dir / "run" / "plane.json"
    started = start_time(os.getpid())
    url = local_address(address).url
    note = {"url": url, "pid": os.getpid(), "boot": boot_id(), "started": started}
    if address.public:
        note["pages"] = address.public
    certificate = None
    if tls is not None:
        certificate = settings.data_dir / "run" / "certificate.pem"
        tls.publish(partial(write_private, certificate))
        note["certificate"] = str(certificate)
    if token_file is not None:
        note["token_file"] = str(token_file.absolute())
    write_private(file, json.dumps(note))
    try:
        yield certificate
    finally:
        file.unlink(missing_ok=True)
