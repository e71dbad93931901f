"""Expansion of ``${VAR}`` in the values of a server's environment. Pure."""

import re
from collections.abc import Mapping

from .server_entry import Pairs

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expanded(pairs: Pairs, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with the values of ``environment``; unknown ones are empty.

    What a value brings in is not expanded again.
    """
    return {
        name: _VARIABLE.sub(lambda found: environment.get(found[1], ""), value)
        for name, value in pairs
    }
