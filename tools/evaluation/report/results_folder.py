"""The folder of an evaluation: ``result.json``, ``index.html``, and recordings of failures."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from deskhand.tools.evaluation.result import EvaluationResult, UnreadableResult, read_result

from .comparison import Comparison
from .page import page

STYLE = Path(__file__).parent / "assets" / "page.css"
RESULT = "result.json"
PAGE = "index.html"


def new_folder(given: Path | None) -> Path:
    """Make the folder for results; by default one with the time in its name.

    Raises:
        OSError: If it cannot be made or written.
    """
    folder = given or Path(time.strftime("deskhand-eval-%Y%m%d-%H%M%S"))
    folder.mkdir(parents=True, exist_ok=True)
    # An evaluation takes hours: a folder that cannot be written is noticed before it.
    probe = folder / f".{RESULT}.{os.getpid()}"
    probe.touch()
    probe.unlink()
    return folder


def write_result(folder: Path, result: EvaluationResult) -> None:
    """Write ``result.json``: the old one stays until the new one is complete."""
    text = json.dumps(result.to_json(), indent=1, ensure_ascii=False)
    _replace(folder / RESULT, text + "\n")


def write_page(folder: Path, result: EvaluationResult, comparison: Comparison | None) -> None:
    """Write the page."""
    _replace(folder / PAGE, page(result, comparison, STYLE.read_text(encoding="utf-8")))


def load_result(path: Path) -> EvaluationResult:
    """Read a result; a folder stands for its ``result.json``.

    Raises:
        UnreadableResult: If it cannot be read or is no result.
    """
    file = path / RESULT if path.is_dir() else path
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableResult(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableResult(f"{file}: it is not JSON: {error}") from error
    try:
        return read_result(stored)
    except UnreadableResult as error:
        raise UnreadableResult(f"{file}: {error}") from error


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
