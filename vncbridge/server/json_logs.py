"""The logs of a service: lines of JSON, each with the chat that it concerns.

``service.jsonl`` contains the records of the code, ``access.jsonl`` a line for each request.
Warnings go to the standard error as well.
"""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from structlog.contextvars import (
    bind_contextvars,
    bound_contextvars,
    clear_contextvars,
    merge_contextvars,
)
from structlog.processors import JSONRenderer, TimeStamper, format_exc_info
from structlog.stdlib import ProcessorFormatter, add_log_level, add_logger_name

ACCESS = "deskhand.access"
OURS = "deskhand"
"""Logger of the package; from other libraries only warnings are logged."""
LARGEST_FILE = 10 * 1024 * 1024
OLD_FILES = 2


def log_context(fields: Mapping[str, object]) -> AbstractContextManager[None]:
    """Add fields to every line that is logged in the block, and in tasks that it starts."""
    return bound_contextvars(**fields)


def set_log_context(fields: Mapping[str, object]) -> None:
    """Replace the fields until the end of the task, as for a task that outlives its request."""
    clear_contextvars()
    bind_contextvars(**fields)


@contextmanager
def logged(folder: Path, hide: Callable[[str], str] = str) -> Iterator[None]:
    """Write the two files while the block runs; they are rotated at 10 MiB.

    ``hide`` masks secrets in the records of the code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        access = stack.enter_context(_file(folder / "access.jsonl", logging.Formatter()))
        service = stack.enter_context(_file(folder / "service.jsonl", _lines(hide)))
        for name in (ACCESS, OURS):
            stack.enter_context(_at_info(logging.getLogger(name)))
        stack.enter_context(_attached(logging.getLogger(ACCESS), access))
        # Python uses ``lastResort`` by itself only while there is no other handler.
        for handler in (service, logging.lastResort):
            if handler is not None:
                stack.enter_context(_attached(logging.getLogger(), handler))
        yield


def _lines(hide: Callable[[str], str]) -> logging.Formatter:
    def masked(_: Any, __: str, fields: MutableMapping[str, Any]) -> Mapping[str, Any]:
        return {key: hide(one) if isinstance(one, str) else one for key, one in fields.items()}

    return ProcessorFormatter(
        foreign_pre_chain=[
            TimeStamper(fmt="iso", utc=True, key="time"),
            add_log_level,
            add_logger_name,
            merge_contextvars,
        ],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            # Tracebacks may contain secrets too, so they become text before they are masked.
            format_exc_info,
            masked,
            JSONRenderer(ensure_ascii=False),
        ],
    )


class LogFile(RotatingFileHandler):
    """Log file that drops records while its disk is full, or refuses writes."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Report no failure of the disk: a traceback for each record would hide other errors."""
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; records that the disk has refused are lost."""
        with suppress(OSError):
            super().close()


@contextmanager
def _file(path: Path, formatter: logging.Formatter) -> Iterator[logging.Handler]:
    handler = LogFile(
        path,
        maxBytes=LARGEST_FILE,
        backupCount=OLD_FILES,
        delay=True,
        # JSON is UTF-8 in any locale; file names may contain lone surrogates, which cannot be
        # encoded.
        encoding="utf-8",
        errors="backslashreplace",
    )
    handler.setFormatter(formatter)
    with closing(handler):
        yield handler


@contextmanager
def _attached(logger: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def _at_info(logger: logging.Logger) -> Iterator[None]:
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
