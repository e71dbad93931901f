import numpy as np

from deskhand.tools.playbooks.targets.region_hash import is_alike, region_hash, scaled_box


def _picture(shift: int = 0) -> bytes:
    row = (np.arange(90) * 2 + shift) % 256
    return np.repeat(np.tile(row, (80, 1))[..., None], 3, axis=2).astype(np.uint8).tobytes()


def test_a_picture_looks_like_a_brighter_one() -> None:
    one, other = (region_hash(90, 80, _picture(shift), (0, 0, 90, 80)) for shift in (0, 40))
    assert one == other == "0" * 16
    assert is_alike(one, "000000000000003f")
    assert not is_alike(one, "000000000000007f")


def test_a_mirrored_picture_is_another_one() -> None:
    mirrored = np.frombuffer(_picture(), np.uint8).reshape(80, 90, 3)[:, ::-1].tobytes()
    assert region_hash(90, 80, mirrored, (0, 0, 90, 80)) == "f" * 16
    assert region_hash(90, 80, mirrored, (0, 0, 2, 1)) != "0" * 16


def test_a_box_is_scaled_and_never_empty() -> None:
    assert scaled_box((10, 20, 30, 40), (100, 100), (200, 50)) == (20, 10, 60, 20)
    assert scaled_box((99, 99, 100, 100), (100, 100), (10, 10)) == (9, 9, 10, 10)
    assert scaled_box((500, 500, 501, 501), (100, 100), (100, 100)) == (99, 99, 100, 100)
