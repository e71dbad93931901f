"""The WebSocket of pages, composed with what they subscribe to."""

import asyncio
from contextlib import AsyncExitStack

from fastapi import APIRouter

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.live_updates.api import router
from deskhand.tools.live_updates.connection import LiveSources
from deskhand.tools.live_updates.desktop_changes import DesktopChanges
from deskhand.tools.people.people import People
from deskhand.tools.store.database import Store
from deskhand.tools.store.ownership import ChatOwnership


def live_router(
    plane: str,
    chats: Chats,
    fleet: Placement,
    store: Store,
    closing: asyncio.Event,
    stack: AsyncExitStack,
    people: People,
) -> APIRouter:
    """Return the route of the socket; ``plane`` distinguishes this control plane from others."""
    changes = DesktopChanges(fleet.states)
    owning = ChatOwnership(store)
    sources = LiveSources(plane, chats, fleet, changes, owning, people.granted)
    stack.push_async_callback(sources.screens.close)
    stack.push_async_callback(changes.close)
    return router(sources, closing)
