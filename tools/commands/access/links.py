"""Links that sign a browser in once."""

from urllib.parse import quote

from deskhand.desktop.errors import DesktopRefused
from deskhand.tools.commands.http import PlaneConnection

FORBIDDEN = 403


async def sign_in_link(plane: PlaneConnection, page: str = "") -> str:
    """Return a link to a page, such as ``/runs/ID``, which signs in whom it is given to, once.

    The credential of a share link or of a chat makes no codes; the link has none then. It is empty
    for a control plane on a Unix socket, which no browser opens.
    """
    if not plane.page_url:
        return ""
    try:
        code = (await plane.client.request("POST", "/api/v0/login/codes", json={}))["code"]
    except DesktopRefused as error:
        if error.status != FORBIDDEN:
            raise
        return f"{plane.page_url}{page}"
    target = f"?next={quote(page)}" if page else ""
    # Browsers do not send the fragment, so the code reaches no server log.
    return f"{plane.page_url}/login{target}#code={code}"
