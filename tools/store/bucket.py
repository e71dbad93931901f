"""A bucket of an S3-compatible service, where stored files may be kept."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from .errors import BucketUnavailable, BytesMissing

PIECE = 8 << 20
"""Bytes of a part of an upload; S3 allows ten thousand parts of at least five million."""

PIECES_AT_ONCE = 2
CHUNK = 256 * 1024

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "access_key_id",
    "AWS_SECRET_ACCESS_KEY": "secret_access_key",
    "AWS_SESSION_TOKEN": "session_token",
    "AWS_ENDPOINT_URL": "endpoint",
    "AWS_REGION": "region",
    "AWS_DEFAULT_REGION": "region",
}
"""What is read of the environment: the names every S3 client knows."""


class Bucket:
    """Bytes under names below one prefix; uploads and reads go in pieces.

    Every method raises ``BucketUnavailable`` where the service refuses or does not answer.
    """

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        self._url = url
        config = {key: environment[name] for name, key in SETTINGS.items() if environment.get(name)}
        config.setdefault("region", "us-east-1")
        plain = config.get("endpoint", "").startswith("http://")
        try:
            self._store = S3Store(
                urlsplit(url).netloc,
                prefix=urlsplit(url).path.strip("/") or None,
                config=config,  # type: ignore[arg-type]  # a dict of its known keys
                client_options={"allow_http": plain, "connect_timeout": timedelta(seconds=5)},
                # Whoever calls tries again himself, and knows what may wait.
                retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
            )
        except (BaseError, ValueError) as error:
            raise BucketUnavailable(url, str(error)) from error

    async def put(self, name: str, source: Path) -> None:
        """Store a file under that name, in place of what is there.

        Raises:
            FileNotFoundError: If the file is gone.
        """
        with source.open("rb") as file:
            try:
                await obstore.put_async(
                    self._store, name, file, chunk_size=PIECE, max_concurrency=PIECES_AT_ONCE
                )
            except (BaseError, FileNotFoundError) as error:
                # Found is the file; it is the bucket that is not.
                raise self._trouble(error) from error

    async def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Give the bytes from ``start`` up to, and without, ``end``.

        Raises:
            BytesMissing: If nothing has that name.
        """
        try:
            found = await obstore.get_async(
                self._store,
                name,
                options={"range": {"offset": start} if end is None else (start, end)},
            )
            async for chunk in found.stream(min_chunk_size=CHUNK):
                yield bytes(chunk)
        except FileNotFoundError as error:
            raise BytesMissing(name) from error
        except BaseError as error:
            raise self._trouble(error) from error

    async def delete(self, names: Sequence[str]) -> None:
        """Remove what has these names; nothing there is fine."""
        try:
            await obstore.delete_async(self._store, list(names))
        except FileNotFoundError:
            return
        except BaseError as error:
            raise self._trouble(error) from error

    async def names(self) -> list[str]:
        """All names that there are."""
        found: list[str] = []
        try:
            async for page in obstore.list(self._store, chunk_size=1000):
                found += [str(entry["path"]) for entry in page]
        except (BaseError, FileNotFoundError) as error:
            raise self._trouble(error) from error
        return found

    def _trouble(self, error: Exception) -> BucketUnavailable:
        return BucketUnavailable(self._url, f"{error}".partition("\n")[0])
