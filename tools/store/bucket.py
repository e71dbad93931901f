"""Adapter of an S3-compatible service: one bucket, in which stored files may be kept."""

import mmap
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from .errors import BucketUnavailable, BytesMissing

PIECE = 8 << 20
"""Bytes of a part of an upload. S3 allows 10,000 parts, each but the last of at least 5 MiB:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""

PIECES_AT_ONCE = 2
"""Parts in memory at a time; more would not be faster on the usual uplink."""

REQUEST = timedelta(seconds=30)
"""Limit of a request, its body included."""

SLOWEST = 128 * 1024
"""Bytes a second below which an upload by one request fails."""

CHUNK = 256 * 1024
"""Least bytes of a chunk that a read yields."""

SIGNED = timedelta(minutes=5)
"""Time within which an upload to a signed address must begin."""

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "access_key_id",
    "AWS_SECRET_ACCESS_KEY": "secret_access_key",
    "AWS_SESSION_TOKEN": "session_token",
    "AWS_ENDPOINT_URL": "endpoint",
    "AWS_REGION": "region",
    "AWS_DEFAULT_REGION": "region",
}
"""Options by environment variable, with the names that all S3 clients read."""


class Bucket:
    """Objects below one prefix of a bucket; uploads and reads are in pieces.

    Every method raises ``BucketUnavailable`` if the service refuses or does not answer.
    """

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        self._url = url
        config = {key: environment[name] for name, key in SETTINGS.items() if environment.get(name)}
        # Requests are signed for a region; services other than Amazon's usually accept this one.
        config.setdefault("region", "us-east-1")
        # Plain HTTP only where the endpoint names it, as for a service on the same machine.
        self._config = config
        self._allow_http = config.get("endpoint", "").startswith("http://")
        self._store = self._opened(REQUEST)

    async def put(self, name: str, source: Path) -> None:
        """Upload a file under a name, replacing the object of that name.

        Raises:
            FileNotFoundError: If the file does not exist any more.
        """
        with source.open("rb") as file:
            try:
                await obstore.put_async(
                    self._store, name, file, chunk_size=PIECE, max_concurrency=PIECES_AT_ONCE
                )
            except (BaseError, FileNotFoundError) as error:
                # The file is open: this FileNotFoundError says that the bucket does not exist.
                raise self._unavailable(error) from error

    async def put_whole(self, name: str, source: Path) -> None:
        """Upload a file under a name by one request, which may not be empty.

        Raises:
            FileNotFoundError: If the file does not exist any more.
        """
        with (
            source.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            store = self._opened(REQUEST + timedelta(seconds=len(data) / SLOWEST))
            try:
                # The request reads the pages of the file, which are no memory of this process.
                await obstore.put_async(store, name, data, use_multipart=False)
            except (BaseError, FileNotFoundError) as error:
                raise self._unavailable(error) from error

    async def put_bytes(self, name: str, data: bytes) -> None:
        """Store bytes under a name, replacing the object of that name."""
        try:
            await obstore.put_async(self._store, name, data, use_multipart=False)
        except (BaseError, FileNotFoundError) as error:
            raise self._unavailable(error) from error

    async def put_url(self, name: str) -> str:
        """Return an address to which a program without keys can put one object for a while."""
        try:
            return await obstore.sign_async(self._store, "PUT", name, SIGNED)
        except BaseError as error:
            raise self._unavailable(error) from error

    async def size(self, name: str) -> int | None:
        """Return the bytes of an object; None if there is none."""
        try:
            return int((await obstore.head_async(self._store, name))["size"])
        except FileNotFoundError:
            return None
        except BaseError as error:
            raise self._unavailable(error) from error

    async def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from ``start`` up to, and without, ``end``.

        Raises:
            BytesMissing: If no object has that name.
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
            await self._check_bucket(error)
            raise BytesMissing(name) from error
        except BaseError as error:
            raise self._unavailable(error) from error

    async def delete(self, names: Sequence[str]) -> None:
        """Remove the objects of these names; names without an object are fine."""
        try:
            await obstore.delete_async(self._store, list(names))
        except FileNotFoundError as error:
            await self._check_bucket(error)
            # The service may have stopped at the missing object.
            for name in names:
                await self._delete_one(name)
        except BaseError as error:
            raise self._unavailable(error) from error

    async def _delete_one(self, name: str) -> None:
        try:
            await obstore.delete_async(self._store, name)
        except FileNotFoundError:
            return
        except BaseError as error:
            raise self._unavailable(error) from error

    async def _check_bucket(self, missing: Exception) -> None:
        """Raise ``BucketUnavailable`` if not an object but the bucket is missing."""
        try:
            # A list of a bucket without objects is empty; that of a missing bucket fails.
            async for _ in obstore.list(self._store, chunk_size=1):
                return
        except (BaseError, FileNotFoundError):
            raise self._unavailable(missing) from missing

    async def names(self) -> list[str]:
        """Return the names of all objects."""
        found: list[str] = []
        try:
            # ``ListObjectsV2`` returns pages of 1,000 names at most.
            async for page in obstore.list(self._store, chunk_size=1000):
                found += [str(entry["path"]) for entry in page]
        except (BaseError, FileNotFoundError) as error:
            raise self._unavailable(error) from error
        return found

    def _opened(self, timeout: timedelta) -> S3Store:
        try:
            return S3Store(
                urlsplit(self._url).netloc,
                prefix=urlsplit(self._url).path.strip("/") or None,
                config=self._config,  # type: ignore[arg-type]  # a dict of its known keys
                client_options={
                    "allow_http": self._allow_http,
                    "connect_timeout": timedelta(seconds=5),
                    "timeout": timeout,
                },
                # The upload queue retries by itself; a person's request must not wait for long.
                retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=10)},
            )
        except (BaseError, ValueError) as error:
            raise BucketUnavailable(self._url, str(error)) from error

    def _unavailable(self, error: Exception) -> BucketUnavailable:
        return BucketUnavailable(self._url, f"{error}".partition("\n")[0])
