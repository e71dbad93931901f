"""The templates of a data directory, and their list for agents."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from deskhand.tools.store.private_file import write_private

from .errors import BadTemplate, UnknownTemplate
from .template import LARGEST_TEMPLATE, NAME, DesktopTemplate, read_template

log = logging.getLogger(__name__)
Json = dict[str, Any]
PAGE = 10


class TemplateLibrary:
    """The templates in one folder; all methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, in their order."""
        found = (path.stem for path in self._folder.glob("*.yaml"))
        return tuple(sorted(name for name in found if NAME.fullmatch(name)))

    def get(self, name: str) -> DesktopTemplate:
        """Return a template; its file is read at each call.

        Raises:
            UnknownTemplate: If there is no such file.
            BadTemplate: If it cannot be read as a template.
        """
        return read_template(name, self.text(name))

    def text(self, name: str) -> str:
        """Return the file of a template.

        Raises:
            UnknownTemplate: If there is no such file.
            BadTemplate: If it cannot be read.
        """
        path = self._folder / f"{name}.yaml"
        if not NAME.fullmatch(name) or not path.is_file():
            raise UnknownTemplate(name, self.names())
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_TEMPLATE + 1)
            if len(data) > LARGEST_TEMPLATE:
                raise BadTemplate(f"{path.name}: has more than {LARGEST_TEMPLATE} bytes")
            return data.decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadTemplate(f"{path.name}: cannot be read: {error}") from error

    def put(self, name: str, content: str) -> None:
        """Write the file of a template, in the place of an earlier one.

        Raises:
            BadTemplate: If it cannot be read as a template.
        """
        if not NAME.fullmatch(name) or len(content.encode()) > LARGEST_TEMPLATE:
            raise BadTemplate(f"{name[:100]!r} is no name of a template, or its file is too large")
        read_template(name, content)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._folder / f"{name}.yaml", content)

    def all(self) -> tuple[DesktopTemplate, ...]:
        """Return the templates that can be read, in the order of their names."""
        found = []
        for name in self.names():
            try:
                found.append(self.get(name))
            except (BadTemplate, UnknownTemplate) as error:
                log.warning("a template is left out: %s", error)
        return tuple(found)


def listed(templates: tuple[DesktopTemplate, ...], uses: Mapping[str, int], page: int) -> Json:
    """Return a page of templates, those that were used most first; a page below 1 is the first."""
    # ``sorted`` is stable: templates of equal use stay in the order of their names.
    ordered = sorted(templates, key=lambda one: -uses.get(one.name, 0))
    pages = max(1, -(-len(ordered) // PAGE))
    number = max(1, page)
    shown = ordered[(number - 1) * PAGE : number * PAGE]
    return {
        "templates": [_shown(one, uses.get(one.name, 0)) for one in shown],
        "count": len(shown),
        "page": number,
        "total_pages": pages,
        "total_count": len(ordered),
    }


def _shown(template: DesktopTemplate, uses: int) -> Json:
    fields = {
        "name": template.name,
        "display_name": template.display_name,
        "description": template.description,
        "size": template.size,
        "applications": list(template.applications),
    }
    return {key: value for key, value in fields.items() if value} | {"uses": uses}


Uses = Callable[[], Awaitable[Mapping[str, int]]]
"""Returns how many chats were started with each template."""
