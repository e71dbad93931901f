"""`deskhand library`: the stored files, without a control plane."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from deskhand.tools.control_plane.data_dir_lock import AlreadyRunning, held
from deskhand.tools.control_plane.process_user import acting_as, owner_of
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.store.backends.sole_use import SoleUse
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance
from deskhand.tools.store.upload_queue import UploadQueue

from .terminal import BadDataDir, check_data_dir, print_error, print_json, print_line
from .terminal import settings as read_settings

FAILED = 4


def rebuild(flags: Mapping[str, Any], as_json: bool) -> int:
    """Rebuild the table of files from the files on disk; return the exit status."""
    try:
        found_settings = read_settings(flags)
        data = found_settings.data_dir
        check_data_dir(data)
        # A running control plane changes the table meanwhile, so the rebuild needs the same lock.
        # Root leaves no files that its user could not use.
        with acting_as(owner_of(data)), held(data):
            found = asyncio.run(_rebuilt(found_settings))
    except (AlreadyRunning, BadDataDir, BadSetting, StoreError, OSError) as error:
        print_error(str(error))
        return FAILED
    if as_json:
        print_json(found._asdict())
    else:
        print_line(f"{found.restored} files are known again, {found.forgotten} are forgotten")
    return 0


async def _rebuilt(settings: Settings) -> Rebuilt:
    folder, bucket = settings.data_dir / "files", settings.store
    upload_queue = UploadQueue(FileStore(folder), Bucket(bucket, os.environ)) if bucket else None
    async with AsyncExitStack() as stack:
        if settings.database:
            use = await SoleUse.begin(settings.database)
            stack.push_async_callback(use.close)
        store = await stack.enter_async_context(await Store.open(settings.database_place))
        return await StorageMaintenance(
            store, folder, time.time, upload_queue=upload_queue
        ).rebuild()
