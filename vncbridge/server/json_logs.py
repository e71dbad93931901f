"""The logs of a service: lines of JSON, each with the chat that it concerns.

``service.jsonl`` contains the records of the code, ``access.jsonl`` a line for each request.
Warnings go to the standard error as well, one line each, as text or as JSON.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

ACCESS = "deskhand.access"
OURS = "deskhand"
"""Logger of the package; from other libraries only warnings are logged."""
LARGEST_FILE = 10 * 1024 * 1024
OLD_FILES = 2


@dataclass(frozen=True)
class StandardError:
    """The entries that the standard error shows: from a level on, in one of the formats."""

    level: str = "warning"
    format: str = "text"


_fields: ContextVar[Mapping[str, object]] = ContextVar("log fields")


@contextmanager
def log_context(fields: Mapping[str, object]) -> Iterator[None]:
    """Add fields to every line that is logged in the block, and in tasks that it starts."""
    before = _fields.get({})
    _fields.set({**before, **fields})
    try:
        yield
    finally:
        _fields.set(before)


def set_log_context(fields: Mapping[str, object]) -> None:
    """Replace the fields until the end of the task, as for a task that outlives its request."""
    _fields.set(dict(fields))


@contextmanager
def logged(
    folder: Path,
    hide: Callable[[str], str] = str,
    shown: StandardError = StandardError(),
) -> Iterator[None]:
    """Write the two files while the block runs; they are rotated at 10 MiB.

    ``hide`` masks secrets in the records of the code. ``shown`` goes to the standard error, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        access = stack.enter_context(_file(folder / "access.jsonl", logging.Formatter()))
        service = stack.enter_context(_file(folder / "service.jsonl", JsonLine(hide)))
        level = logging.getLevelNamesMapping()[shown.level.upper()]
        for name in (ACCESS, OURS):
            stack.enter_context(_at_level(logging.getLogger(name), min(level, logging.INFO)))
        stack.enter_context(_attached(logging.getLogger(ACCESS), access))
        errors = ErrorStream(level)
        errors.setFormatter(TextRecord(hide) if shown.format == "text" else JsonLine(hide))
        for handler in (service, errors):
            stack.enter_context(_attached(logging.getLogger(), handler))
        yield


class JsonLine(logging.Formatter):
    """Formats a record as one line of JSON, with the fields of its context.

    A library for this would also load its support for terminals at each start of a desktop.
    """

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; its texts are masked, also that of an exception."""
        own = {
            "event": record.getMessage(),
            "time": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        line = {**own, **_fields.get({}), **own}
        if record.stack_info:
            line["stack_info"] = record.stack_info
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        masked = {
            key: self._hide(one) if isinstance(one, str) else one for key, one in line.items()
        }
        return json.dumps(masked, ensure_ascii=False, default=repr)


class TextRecord(logging.Formatter):
    """Formats a record as one line of text: time, level, logger, message, fields, error.

    The file has the stack of an exception.
    """

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; line breaks of the message are written as ``\\n``."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = "".join(f" {name}={value}" for name, value in _fields.get({}).items())
        error = record.exc_info[1] if record.exc_info else None
        reason = "" if error is None else f" | {type(error).__name__}: {error}"
        line = f"{record.levelname.lower()} {record.name}: {record.getMessage()}{fields}{reason}"
        one = self._hide(line).rstrip().replace("\r", "").replace("\n", "\\n")
        return f"{at.replace('+00:00', 'Z')} {one}"


class ErrorStream(logging.StreamHandler[TextIO]):
    """Writes to the standard error of the moment; its reader may be gone."""

    def __init__(self, level: int) -> None:
        super().__init__(sys.stderr)
        self.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        self.stream = sys.stderr
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Report no failure of the stream itself, for which there is no other place."""
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


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
def _at_level(logger: logging.Logger, level: int) -> Iterator[None]:
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
