"""Modules that a desktop service loads when it needs them, and never before its first screenshot.

Dialects are off by default: those that are on are loaded at the start, before the change of user.
The first request to ``/mcp`` and the first for the OpenAPI document load what they need, which
`held_modules` finds.
"""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from fastapi import APIRouter

from deskhand.desktop.mcp.api import CallerOf
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.vncbridge.openapi.document import ApiOperations

from .parts import CommonParts

Load = Callable[[str], Any]


class Dialect(Protocol):
    """A protocol of other programs that a desktop speaks."""

    def write_files(self, desktop: Path, browser: str, /) -> None:
        """Write its files into a desktop's directory; ``browser`` is a program, empty for none."""

    def router(self, own_api: OwnApi, common: CommonParts, step_log: StepLog, /) -> APIRouter:
        """Return its routes."""


def load_dialects(
    speak: Iterable[str], load: Load = importlib.import_module
) -> tuple[Dialect, ...]:
    """Load the dialects of the setting ``speak``; each may have an option after a colon."""
    names = dict.fromkeys(one.partition(":")[0] for one in speak)
    return tuple(load(f"deskhand.desktop.service.dialects.{name}").loaded() for name in names)


def mcp_callers(own_api: OwnApi, load: Load = importlib.import_module) -> CallerOf:
    """Load the calls of MCP's tools; see `McpEndpoint`."""
    callers: CallerOf = load("deskhand.desktop.mcp.calls.own_desktop").OwnDesktopCallers(own_api)
    return callers


def operations(load: Load = importlib.import_module) -> ApiOperations:
    """Load names and answers of the operations, for the OpenAPI document."""
    found: ApiOperations = load("deskhand.desktop.openapi.operations").OPERATIONS
    return found
