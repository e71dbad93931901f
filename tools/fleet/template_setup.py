"""Setup of a desktop after its template: files, then applications once it has a display."""

import posixpath

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.templates.template import DesktopTemplate

LAUNCH_SECONDS = 60.0


async def write_files(client: DesktopClient, template: DesktopTemplate) -> None:
    """Write the files of a template into the working directory.

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


async def launch_applications(client: DesktopClient, template: DesktopTemplate) -> None:
    """Launch the applications of a template in their order; the desktop has a display.

    Raises:
        DesktopRefused, DesktopUnavailable: If one of them fails.
    """
    for name in template.applications:
        await client.request(
            "POST", "/api/v0/desktop/launch", json={"name": name}, timeout=LAUNCH_SECONDS
        )
