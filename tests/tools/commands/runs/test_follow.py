from typing import Any

import pytest

from deskhand.tools.commands.runs.follow import exit_code


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"outcome": "done"}, 0),
        ({"outcome": "partly"}, 1),
        ({"outcome": "blocked"}, 1),
        ({"outcome": "failed"}, 1),
        ({"status": "error"}, 1),
        ({"outcome": "partly", "last_error_kind": "budget"}, 3),
        ({"timed_out": True}, 3),
        ({"status": "error", "last_error_kind": "model_refused"}, 5),
        ({"status": "error", "last_error_kind": "no_model"}, 5),
    ],
)
def test_the_exit_code_follows_from_the_outcome(result: dict[str, Any], code: int) -> None:
    assert exit_code(result) == code
