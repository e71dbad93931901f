"""Values of the header ``anthropic-beta``."""

import pytest

from deskhand.tools.agents.scripted.anthropic.betas import read_betas
from deskhand.tools.agents.scripted.script.request import InvalidRequest


def test_the_values_of_a_header_are_separated_by_commas() -> None:
    assert read_betas("") == frozenset()
    assert read_betas("compact-2026-09-04, computer-use-2025-01-24") == {
        "compact-2026-09-04",
        "computer-use-2025-01-24",
    }


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"Unexpected value\(s\) compact-2026-09-40"):
        read_betas("compact-2026-09-04,compact-2026-09-40")
