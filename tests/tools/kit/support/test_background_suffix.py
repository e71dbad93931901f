import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.kit.support.background_suffix import without_background_suffix


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("cmd &", "cmd"),
        ("cmd&", "cmd"),
        ("cmd &  \n", "cmd"),
        (" \n cmd  &", "cmd"),
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
        ("echo a\\ &", "echo a\\ "),
        ("echo a\\\\ &", "echo a\\\\"),
        ("server \\\n  &", "server"),
        ("server & \\\n", "server"),
        ("a && \\\n b &", "a && \\\n b"),
        ("cat <<EOF\nit's\nEOF\nserver &", "cat <<EOF\nit's\nEOF\nserver"),
        ("cat <<'A B' >f\n\"\nA B\nserver &", "cat <<'A B' >f\n\"\nA B\nserver"),
        ("cat <<-EOF # a\n\t`\n\t\tEOF\nb &", "cat <<-EOF # a\n\t`\n\t\tEOF\nb"),
        ("a <<A <<\\B\n'\nA\n'\nB\nb &", "a <<A <<\\B\n'\nA\n'\nB\nb"),
        ("cat <<< word &", "cat <<< word"),
        ("echo $((1 << 2))\nserver &", "echo $((1 << 2))\nserver"),
        ("echo $((1 &", "echo $((1"),
        ("a &> log &", "a &> log"),
        ("a 2>&- &", "a 2>&-"),
        ("sleep 6 & # comment", "sleep 6"),
        ("sleep 6 &# comment", "sleep 6"),
        ("sleep 6 & # it's a &", "sleep 6"),
        ("server & # a\n\n  # b\n", "server"),
        ("server \\\n & # a \\", "server"),
        ("# a\nserver '#' & #", "# a\nserver '#'"),
        ("cat <<EOF\n# a\nEOF\nserver & # b", "cat <<EOF\n# a\nEOF\nserver"),
    ],
)
def test_a_last_ampersand_is_taken_off(command: str, plain: str) -> None:
    assert without_background_suffix(command) == plain


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
        "cat <<EOF\na &",
        "cat <<EOF\na\nEOF &",
        "cat <<-EOF\n\tEOF &",
        "cat <<EOF\n  EOF\nserver &",
        "a &> log",
        "a 2>&1",
        "cmd # later",
        "cmd && # later",
        "a & b # later",
        "# a",
        "cat <<EOF\na & # b",
        "cat <<EOF\na\nEOF & # b",
        "echo 'a & # b",
        "echo 'a & # b'",
        "echo a&\\ # b",
    ],
)
def test_other_ampersands_are_left_to_the_shell(command: str) -> None:
    assert without_background_suffix(command) is None


@given(st.text(alphabet="ab &#'\"`\\\n|>", max_size=20))
def test_what_is_taken_off_is_the_ampersand_with_comments_only(command: str) -> None:
    plain = without_background_suffix(command)
    if plain is not None:
        command = command.lstrip()
        left_out = re.sub("#.*", "", command.removeprefix(plain))
        assert command.startswith(plain)
        assert set(left_out) <= set("& \\\n")
        assert left_out.count("&") == 1
