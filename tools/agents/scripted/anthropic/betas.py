"""Values of the header ``anthropic-beta`` that the scripted server knows. Pure."""

from deskhand.tools.agents.scripted.script.reading import check

from .compaction import COMPACTION_BETA, EDIT_BETAS
from .older_tools import BETAS as TOOL_BETAS
from .thinking import BINDING_BETA, UPDATES_BETA

KNOWN = frozenset({COMPACTION_BETA, BINDING_BETA, UPDATES_BETA, *EDIT_BETAS, *TOOL_BETAS.values()})


def read_betas(header: str) -> frozenset[str]:
    """Return the values of a header; it may be empty.

    Raises:
        InvalidRequest: If one is not known, as a misspelt value would switch nothing on.
    """
    betas = frozenset(one.strip() for one in header.split(",")) - {""}
    unknown = sorted(betas - KNOWN)
    problem = f"Unexpected value(s) {', '.join(unknown)} for the `anthropic-beta` header"
    check(not unknown, "anthropic-beta", problem)
    return betas
