import json

import pytest

from deskhand.desktop.clipboard.api import content_of
from deskhand.desktop.errors import InvalidAction


@pytest.mark.parametrize("image", ["ü", "a", "=", "AAAA"])
def test_a_picture_that_is_none_is_refused(image: str) -> None:
    with pytest.raises(InvalidAction, match="image_png"):
        content_of("application/json", json.dumps({"image_png": image}).encode())
