"""A page of 5,200 small buttons, all of them visible, in groups of 100."""

GROUPS, GROUP = 52, 100
WIDGETS = GROUPS * (GROUP + 1)
_STYLE = b"<style>button{width:8px;height:8px;padding:0;margin:0}</style>"
_BUTTON = b"<button aria-label=b%d></button>"

NAMES = [f'"b{number}"' for number in range(GROUPS * GROUP)]
"""Names of the buttons in quotes, as they are in JSON and in XML."""

PAGE = (
    b"<title>Many</title>"
    + _STYLE
    + b"".join(
        b"<span role=group aria-label=g%d>" % group
        + b"".join(_BUTTON % (group * GROUP + number) for number in range(GROUP))
        + b"</span>"
        for group in range(GROUPS)
    )
)
