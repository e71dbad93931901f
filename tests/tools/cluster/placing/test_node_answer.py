"""A node as its gate describes it."""

from typing import Any

import pytest

from deskhand.tools.cluster.placing.errors import BadAnswer
from deskhand.tools.cluster.placing.node_answer import NodeAnswer

WHOLE: dict[str, Any] = {
    **{"name": "n7", "version": "1.0", "places": 80, "room_problem": "", "draining": False},
    **{"public_url": "", "profiles": ["p"], "desktops": [{"id": "d"}]},
}


def test_an_answer_is_read() -> None:
    lost = {"id": "e", "status": "lost"}
    data = WHOLE | {"desktops": [{"id": "d", "status": "ready"}, lost], "later": 1}
    found = NodeAnswer.of_json(data)
    assert (found.name, found.places, found.profiles) == ("n7", 80, frozenset(["p"]))
    assert found.desktops == frozenset(["d"])


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        *({key: value for key, value in WHOLE.items() if key != name} for name in WHOLE),
        WHOLE | {"places": "80"},
        WHOLE | {"desktops": ["d"]},
        WHOLE | {"desktops": [{"id": 1}]},
        WHOLE | {"profiles": [1]},
    ],
)
def test_what_is_no_answer_is_refused(data: Any) -> None:
    with pytest.raises(BadAnswer):
        NodeAnswer.of_json(data)
