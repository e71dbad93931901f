"""Setup of a new desktop after its template: files, then applications."""

import posixpath

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.templates.template import DesktopTemplate

LAUNCH_SECONDS = 60.0


async def set_up(client: DesktopClient, template: DesktopTemplate, *, display: bool) -> None:
    """Write the files of a template, and launch its applications if there is a display.

    Raises:
        DesktopRefused, DesktopUnavailable: If one of them fails.
    """
    if template.files:
        params = {"parts": "false"}
        context = await client.request("GET", "/api/v0/context-config", params=params)
        for path, content in template.files.items():
            target = {"path": posixpath.join(context["working_dir"], path)}
            await client.request(
                "POST", "/api/v0/write-file", params=target, content=content.encode()
            )
    for name in template.applications if display else ():
        await client.request(
            "POST", "/api/v0/desktop/launch", json={"name": name}, timeout=LAUNCH_SECONDS
        )
