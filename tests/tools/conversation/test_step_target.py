"""Targets of steps, as a desktop reports them."""

import base64
from typing import Any

import pytest

from deskhand.tools.conversation.step_target import StepTarget, step_targets

BODY: dict[str, Any] = {
    "role": "button",
    "name": "Save",
    "near": ["Orders"],
    "rectangle": [1, 2, 3, 4],
    "native_point": [10, 20],
    "screen": {"width": 1280, "height": 720},
    "patch": base64.b64encode(b"png").decode(),
    "patch_point": [5, 6],
}
TARGET = StepTarget("button", "Save", ("Orders",), (10, 20), (1280, 720), b"png", (5, 6))


def test_a_target_is_read() -> None:
    assert step_targets([BODY, None]) == (TARGET, None)
    assert step_targets(None) == ()


def test_the_target_of_keys_has_no_point() -> None:
    body = {"role": "entry", "screen": {"width": 5, "height": 6}}
    assert step_targets([body]) == (StepTarget("entry", screen=(5, 6)),)


def test_long_texts_are_cut_and_large_patches_left_out() -> None:
    large = base64.b64encode(bytes(50_000)).decode()
    (found,) = step_targets([{**BODY, "name": "x" * 1000, "near": ["a"] * 9, "patch": large}])
    assert found is not None
    assert len(found.name) == 300
    assert len(found.near) == 5
    assert (found.patch, found.patch_point) == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"screen": None},
        {"screen": {"width": -1, "height": 3}},
        {"screen": {"width": "1", "height": 3}},
        {"native_point": [1]},
        {"native_point": [1, 2.5]},
        {"near": 3},
        {"patch": "%"},
        {"patch": 3},
    ],
)
def test_another_form_is_unknown(change: dict[str, Any]) -> None:
    assert step_targets([{**BODY, **change}, 3]) == (None, None)
    assert step_targets([{"role": "button"}]) == (None,)


def test_a_masked_text_takes_the_pixels_with_it() -> None:
    assert TARGET.masked(lambda text: text) == TARGET
    masked = TARGET.masked(lambda text: text.replace("Orders", "***"))
    assert masked == StepTarget("button", "Save", ("***",), (10, 20), (1280, 720))
