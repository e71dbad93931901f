"""Decision which requests of a client of CDP pass to the browser, and which act. Pure.

Methods are those of https://chromedevtools.github.io/devtools-protocol/. A request that the list of
reading commands does not contain acts: it needs the right to act, which agents lack while a person
is in control. ``file:`` addresses and files for uploads are reads of files, so that the trees that
the file routes are confined to bind here too.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]

_REFUSED = {
    "Browser.close": "The browser of a desktop is not closed by a client.",
    "Browser.crash": "The browser of a desktop is not ended by a client.",
    "Browser.crashGpuProcess": "The browser of a desktop is not ended by a client.",
    "Target.setRemoteLocations": "Clients do not make the browser open connections.",
}
_REFUSED_DOMAINS = {"SystemInfo": "SystemInfo is not served.", "Tethering": "It is not served."}
_READING = (
    *("get", "describe", "query", "resolve", "request", "enable", "disable", "attach", "detach"),
    *("release", "capture", "search", "push", "collect", "setAutoAttach", "setDiscoverTargets"),
    *("runIfWaitingForDebugger", "setLifecycleEventsEnabled", "addScriptToEvaluateOnNewDocument"),
    *("createIsolatedWorld", "stopLoading"),
)
_SCREENSHOTS = ("Page.captureScreenshot", "Page.startScreencast", "Page.printToPDF")


def refusal(method: str, parameters: Json, roots: Sequence[str]) -> str:
    """Return why a request is never passed on; empty if it is.

    ``roots`` are the only trees whose files may be read; none: all.
    """
    domain = method.partition(".")[0]
    if method in _REFUSED or domain in _REFUSED_DOMAINS:
        return _REFUSED.get(method) or _REFUSED_DOMAINS[domain]
    outside = [path for path in _files(parameters) if not _within(path, roots)] if roots else []
    return f"{outside[0]} is outside of the trees that may be read." if outside else ""


def acts(method: str) -> bool:
    """Return whether a request may change something."""
    return not method.partition(".")[2].startswith(_READING)


def shows_screen(method: str) -> bool:
    """Return whether a request returns a picture of a page."""
    return method in _SCREENSHOTS


def with_downloads(method: str, parameters: Json, folder: str) -> Json:
    """Return the parameters, with downloads in the folder of the desktop.

    The client names a folder of its own machine, which the browser cannot write to.
    """
    if method not in ("Browser.setDownloadBehavior", "Page.setDownloadBehavior"):
        return parameters
    if parameters.get("behavior") not in ("allow", "allowAndName"):
        return parameters
    return {**parameters, "behavior": "allow", "downloadPath": folder}


def _files(parameters: Json) -> Iterable[str]:
    url = parameters.get("url")
    if isinstance(url, str) and urlsplit(url.strip()).scheme == "file":
        yield unquote(urlsplit(url.strip()).path)
    files = parameters.get("files")
    if isinstance(files, list):
        yield from map(str, files)


def _within(path: str, roots: Sequence[str]) -> bool:
    parts = PurePosixPath(path)
    return ".." not in parts.parts and any(parts.is_relative_to(root) for root in roots)
