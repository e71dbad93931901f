"""How a picture of the screen is wanted."""

from typing import Literal

PictureFormat = Literal["png", "jpeg", "webp"]
