import pytest

from tests.marked_files import may_hold

BOTH = "@pytest.mark.soak\n@pytest.mark.slow('why')\npytest.param(1, marks=pytest.mark.full)"


@pytest.mark.parametrize(
    ("text", "expression", "expected"),
    [
        ("", "", True),
        ("", "soak", False),
        (BOTH, "soak", True),
        (BOTH, "soak and not full", True),
        (BOTH, "full and not live", True),
        (BOTH, "attack and not full", False),
        (BOTH, "(attack or soak) and not full", True),
        ("", "not (soak or attack)", True),
        (BOTH, "not (soak or attack)", True),
        ("a file about mark.soaking", "soak", False),
    ],
)
def test_a_file_is_left_out_only_if_no_test_in_it_can_match(
    text: str, expression: str, expected: bool
) -> None:
    assert may_hold(text, expression) is expected
