import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.kit.ampersand import in_background


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("cmd &", "cmd"),
        ("cmd&", "cmd"),
        ("cmd &  \n", "cmd"),
        ("a && b &", "a && b"),
        ("nohup a > log 2>&1 &", "nohup a > log 2>&1"),
        ("cmd & &", "cmd &"),
        ("echo '#' &", "echo '#'"),
        ("echo a#b &", "echo a#b"),
        ("# note\nserver &", "# note\nserver"),
        ('echo "it\'s" &', 'echo "it\'s"'),
        ("echo 'a\\' &", "echo 'a\\'"),
        ('echo "\\"" &', 'echo "\\""'),
        ("echo `date` &", "echo `date`"),
        ("&", ""),
    ],
)
def test_a_last_ampersand_is_taken_off(command: str, plain: str) -> None:
    assert in_background(command) == plain


@pytest.mark.parametrize(
    "command",
    [
        "cmd",
        "cmd &&",
        "cmd |&",
        "cmd &&&",
        "a & b",
        "cmd & wait",
        "cmd &;",
        "(cmd &)",
        'echo "a &"',
        "echo 'a &",
        'echo "a &',
        "echo \\&",
        "echo x # a &",
        "# a &",
        "a;# b &",
        "cmd 2>&",
        "cmd <&",
        "echo `a &",
        "",
    ],
)
def test_other_ampersands_are_left_to_the_shell(command: str) -> None:
    assert in_background(command) is None


@given(st.text(alphabet="ab &#'\"`\\\n|>", max_size=20))
def test_what_is_taken_off_is_the_ampersand_only(command: str) -> None:
    plain = in_background(command)
    if plain is not None:
        assert command.rstrip()[:-1].rstrip() == plain
