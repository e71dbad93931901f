"""Performs the commands of one client by calls of our own routes."""

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.own_api.own_api import ApiCaller

from .commands import COMMANDS, check_names
from .errors import CuaError
from .messages import CommandRequest, failure
from .route_call import Json


class CommandRunner:
    """Makes the calls of commands with the credential of the client."""

    def __init__(self, caller: ApiCaller) -> None:
        self._caller = caller

    async def run(self, asked: CommandRequest) -> Json:
        """Return the fields of the command's answer, also of one that failed.

        Cancelling cancels the call that is under way.
        """
        shown = COMMANDS[asked.command].step
        try:
            check_names(asked.command, asked.params)
            if shown is None:
                return await self._made(asked)
            title = str(asked.params.get(shown) or "")
            with self._caller.step(f"cua.{asked.command}", title):
                return await self._made(asked)
        except (CuaError, DesktopRefused) as error:
            return failure(error)

    async def _made(self, asked: CommandRequest) -> Json:
        calls = COMMANDS[asked.command].calls(asked.params)
        try:
            call = next(calls)
            while True:
                reply = await self._caller.send(
                    *(call.method, call.path),
                    json=call.json,
                    params=call.params,
                    content=call.content,
                    # The step of an action has this name.
                    tool=f"cua.{asked.command}",
                )
                call = calls.send(reply)
        except StopIteration as done:
            fields: Json = done.value
            return fields
