"""Expansion of variables."""

from deskhand.desktop.mcp_client.variables import expanded


def test_variables_of_values_are_expanded_once() -> None:
    pairs = (("A", "x${HOME}y${NOT}"), ("B", "$HOME ${1} ${"), ("C", "${LOOP}"))
    environment = {"HOME": "/home/a", "LOOP": "${HOME}"}
    assert expanded(pairs, environment) == {
        "A": "x/home/ay",
        "B": "$HOME ${1} ${",
        "C": "${HOME}",
    }
