"""The limits on stored files that the settings name."""

import time

from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.retention import RetentionLimits
from deskhand.tools.store.upload_queue import UploadQueue


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
