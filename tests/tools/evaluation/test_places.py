"""Places in texts."""

from deskhand.tools.evaluation.places import filled


def test_known_places_are_filled_and_other_braces_stay() -> None:
    text = '{base_url}/a {"json": {calls}}'
    assert filled(text, {"base_url": "http://x"}) == 'http://x/a {"json": {calls}}'
