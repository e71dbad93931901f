"""Names of roles, the same whatever release of AT-SPI an application uses. Pure."""

_RENAMED = {"push button": "button"}
"""Names up to at-spi2-core 2.52, and the ones of 2.56; all others are equal in both."""


def current_name(role: str) -> str:
    """Return the name that at-spi2-core 2.56 has for a role."""
    return _RENAMED.get(role, role)
