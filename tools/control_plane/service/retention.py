"""The limits on stored files that the settings name, and the tasks that enforce them."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.audit.log import AuditLog
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.recovery.recovery import RecordingRecovery
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.retention import RetentionLimits
from deskhand.tools.store.upload_queue import UploadQueue

from .tasks import start_task

log = logging.getLogger(__name__)
TIDY_SECONDS = 15.0
"""Interval of checking for idle desktops."""

RETENTION_SECONDS = 3600.0
"""Interval of enforcing the limits on stored files."""

LEAD_SECONDS = 60.0
"""Interval of checking whether this control plane is the one that enforces them."""


def retention_limits(settings: Settings) -> RetentionLimits:
    """Return the limits on stored files and archived chats."""
    return RetentionLimits(
        archived_days=settings.keep_archived_days,
        recording_days=settings.keep_recording_days,
        recording_bytes=settings.keep_recordings_gb * 10**9,
        attachments=settings.keep_attachments,
        step_bytes=settings.keep_step_pictures_mb * 10**6,
    )


def maintenance_of(
    settings: Settings, store: Store, disk: FileStore, upload_queue: UploadQueue | None
) -> StorageMaintenance:
    """Return the maintenance of the stored files within these limits."""
    limits = retention_limits(settings)
    return StorageMaintenance(store, disk.root, time.time, limits, upload_queue=upload_queue)


def start_tidying(
    stack: AsyncExitStack,
    chats: Chats,
    maintenance: StorageMaintenance,
    recovery: RecordingRecovery,
    audit: AuditLog,
    leads: Callable[[], bool],
) -> None:
    """Start the tasks that release idle desktops and enforce the limits, until the stack ends.

    ``leads`` returns whether this control plane enforces the limits, of several on one database.
    """
    # Maintenance starts last and therefore ends first, before the chats and the store that it uses.
    start_task(stack, _release_idle_desktops(chats), "take back desktops")
    rounds = _keep_within_limits(maintenance, chats, recovery, audit, leads)
    start_task(stack, rounds, "retention")


async def _keep_within_limits(
    maintenance: StorageMaintenance,
    chats: Chats,
    recovery: RecordingRecovery,
    audit: AuditLog,
    leads: Callable[[], bool],
) -> None:
    while True:
        led = leads()
        try:
            # Recordings whose chat was deleted are removed after a day, on each host.
            await recovery.begin_all()
            await remove_expired(maintenance, chats, audit, led)
        # A failed round must not end the task: the cause may be gone at the next one.
        except (ChatError, StoreError, OSError):
            log.exception("the limits of stored files could not be enforced")
        await asyncio.sleep(RETENTION_SECONDS if led else LEAD_SECONDS)


async def remove_expired(
    maintenance: StorageMaintenance, chats: Chats, audit: AuditLog, leads: bool
) -> None:
    """Remove chats, entries of the audit log and files beyond the limits, where this one leads.

    Raises:
        ChatError: If a chat cannot be deleted.
        StoreError: If the database or the bucket is not available.
    """
    if not leads:
        return
    # Deleted chats take their files with them, which then do not count against the limits.
    await chats.remove_archived(maintenance.limits.archived_days)
    await audit.expire()
    gone = await maintenance.enforce_limits()
    if gone:
        log.info("%d stored files were too old or too much", len(gone))


async def _release_idle_desktops(chats: Chats) -> None:
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        try:
            await chats.assignment.release_idle()
        except (ChatError, StoreError, OSError):
            log.exception("idle desktops could not be released")
