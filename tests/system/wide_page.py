"""A page of many small buttons, all of them visible, in groups of 100."""

GROUPS, GROUP = 52, 100
WIDGETS = GROUPS * (GROUP + 1)
"""Of the whole page."""
_STYLE = b"<style>button{width:8px;height:8px;padding:0;margin:0}</style>"
_BUTTON = b"<button aria-label=b%d></button>"


def names(groups: int = GROUPS) -> list[str]:
    """Return the names of the buttons in quotes, as they are in JSON and in XML."""
    return [f'"b{number}"' for number in range(groups * GROUP)]


def page(groups: int = GROUPS) -> bytes:
    """Return the page with so many groups."""
    parts = [
        b"<span role=group aria-label=g%d>" % group
        + b"".join(_BUTTON % (group * GROUP + number) for number in range(GROUP))
        + b"</span>"
        for group in range(groups)
    ]
    return b"<title>Many</title>" + _STYLE + b"".join(parts)
