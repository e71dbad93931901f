import os
import resource
import select
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.events.downloads import DownloadsFolder

LONGEST = 60.0


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_file_is_reported_once_it_is_complete(tmp_path: Path) -> None:
    with closing(DownloadsFolder(tmp_path / "new")) as folder:
        (tmp_path / "new" / "a.pdf.crdownload").write_text("ab")
        (tmp_path / "new" / "a.pdf.crdownload").rename(tmp_path / "new" / "a.pdf")
        assert folder.descriptor in select.select([folder.descriptor], [], [], LONGEST)[0]
        (found,) = folder.read()
        assert found.to_json() == {
            "path": str(tmp_path / "new" / "a.pdf"),
            "name": "a.pdf",
            "size": 2,
        }
        assert folder.read() == []


def test_without_an_inotify_watch_the_reason_is_raised(tmp_path: Path) -> None:
    with no_more_descriptors(), pytest.raises(OSError, match="Too many open files"):
        DownloadsFolder(tmp_path)
