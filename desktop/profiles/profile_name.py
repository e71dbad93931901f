"""Names of profiles: they become names of directories. Pure."""

import re

PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""The whole name must match."""
