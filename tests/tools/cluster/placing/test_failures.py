"""What follows when a start has failed."""

import pytest

from deskhand.tools.cluster.placing.errors import GateRefused, GateUnreachable
from deskhand.tools.cluster.placing.failures import StartFault, fault_of, one_more


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("no_room", StartFault.ROOM),
        ("not_started", StartFault.NODE),
        ("", StartFault.NODE),
        ("bad_order", StartFault.ORDER),
        ("bad_template", StartFault.ORDER),
        ("profile_taken", StartFault.ORDER),
    ],
)
def test_the_code_of_a_refusal_shows_the_cause(code: str, fault: StartFault) -> None:
    assert fault_of(GateRefused(409, code, "no")) is fault


def test_a_node_that_does_not_answer_has_failed() -> None:
    assert fault_of(GateUnreachable("gone")) is StartFault.NODE


def test_a_node_is_refused_after_five_failures() -> None:
    fourth, fifth = [one_more(n, GateRefused(409, "not_started", "no X server")) for n in (3, 4)]
    assert not fourth.is_refused
    assert fifth.is_refused
    assert fifth.reason == "5 starts failed, last: no X server"
