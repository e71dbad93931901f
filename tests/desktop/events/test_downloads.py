import os
import queue
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.events.downloads import Downloads

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
    reported: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
    with Downloads(tmp_path / "new", lambda kind, data: reported.put((kind, data))):
        (tmp_path / "new" / "a.pdf.crdownload").write_text("ab")
        (tmp_path / "new" / "a.pdf.crdownload").rename(tmp_path / "new" / "a.pdf")
        kind, data = reported.get(timeout=LONGEST)
    assert (kind, data["name"], data["size"]) == ("download_finished", "a.pdf", 2)


def test_without_an_inotify_watch_a_warning_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    downloads = Downloads(tmp_path, lambda kind, data: None)
    with no_more_descriptors():
        downloads.open()
    downloads.close()
    downloads.close()
    assert "downloads are not reported: Too many open files" in caplog.text
