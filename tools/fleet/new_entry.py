"""The entry of a desktop that has just been started."""

import time
from pathlib import Path

from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.desktop.launch_port.launch_port import LaunchSpec

from .registry import RegisteredDesktop
from .service_process import StartedService


def entry_of(
    spec: LaunchSpec,
    started: StartedService,
    *,
    token_file: Path,
    folder: Path,
    name: str | None,
    chat_id: str | None,
    template: str,
) -> RegisteredDesktop:
    """Return the entry of a desktop; ``folder`` is its directory."""
    ready = started.ready
    return RegisteredDesktop(
        id=spec.desktop_id,
        name=name or f"desktop {spec.desktop_id}",
        chat_id=chat_id,
        pid=started.pid,
        start_time=start_time(started.pid) or 0,
        boot_id=boot_id(),
        address=ready["url"],
        token_file=str(token_file),
        folder=str(folder),
        created_at=time.time(),
        display=ready.get("display", ""),
        level=ready.get("level", ""),
        width=ready["size"][0],
        height=ready["size"][1],
        browser_warning=ready.get("browser_warning", ""),
        missing_protections=tuple(ready.get("missing_protections", ())),
        has_display=spec.has_display,
        egress=ready.get("egress"),
        speak=tuple(ready.get("speak", ())),
        template=template,
        profile=spec.profile,
    )
