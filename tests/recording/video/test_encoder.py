from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder, parameter_sets
from tests.recording.fakes import Picture, marked, plain

BITS = 8_000_000


def shown(encoder: Encoder, frames: list[bytes]) -> list[Picture]:
    """Decode access units: red, green, blue."""
    decoder = av.CodecContext.create("h264", "r")
    decoder.extradata = parameter_sets(encoder.stream)
    pictures = []
    for data in [*frames, b""]:
        packet = av.Packet(data) if data else None
        pictures += [
            frame.to_ndarray(format="rgb24").astype(np.uint8) for frame in decoder.decode(packet)
        ]
    return pictures


def test_every_frame_comes_out_at_once_with_keyframes_on_request() -> None:
    with Encoder((320, 240), QUALITY_LEVELS[0], BITS) as encoder:
        encoded = [encoder.encode(marked(i), 10.0 + i, key=i in (0, 3)) for i in range(5)]
    assert [one.key for one in encoded] == [True, False, False, True, False]
    assert [one.at for one in encoded] == [10.0, 11.0, 12.0, 13.0, 14.0]


def test_a_repeat_costs_next_to_nothing() -> None:
    with Encoder((1920, 1080), QUALITY_LEVELS[0], BITS) as encoder:
        assert encoder.repeat(0.5, key=False) is None
        encoder.encode(marked(7, 1920, 1080), 1.0, key=True)
        again = encoder.repeat(2.0, key=False)
    assert again is not None
    assert len(again.data) < 500


def test_odd_sizes_are_padded_by_their_border() -> None:
    picture = plain(321, 241, grey=10)
    picture[:, -1] = picture[-1, :] = 240
    with Encoder((321, 241), QUALITY_LEVELS[0], BITS) as encoder:
        frames = [encoder.encode(picture, 0.0, key=True).data]
        assert (encoder.stream.width, encoder.stream.height) == (322, 242)
        (seen,) = shown(encoder, frames)
    assert seen.shape == (242, 322, 3)
    assert seen[100, 321, 0] > 200
    assert seen[241, 100, 0] > 200


def test_a_frame_of_another_size_is_cut_to_the_coded_size() -> None:
    with Encoder((320, 240), QUALITY_LEVELS[0], BITS) as encoder:
        frames = [encoder.encode(plain(640, 100, grey=250), 0.0, key=True).data]
        (seen,) = shown(encoder, frames)
    assert seen.shape == (240, 320, 3)
    assert seen[239, 319, 0] > 220


def test_a_view_of_a_larger_array_can_be_encoded() -> None:
    large = plain(640, 480, grey=90)
    with Encoder((320, 240), QUALITY_LEVELS[0], BITS) as encoder:
        frames = [encoder.encode(large[10:250, 10:330], 0.0, key=True).data]
        (seen,) = shown(encoder, frames)
    assert abs(int(seen[120, 160, 1]) - 90) < 6


def test_colours_survive() -> None:
    picture = plain(320, 240)
    picture[..., :3] = (40, 120, 230)
    with Encoder((320, 240), QUALITY_LEVELS[0], BITS) as encoder:
        encoded = encoder.encode(picture, 0.0, key=True)
        assert encoder.stream.codec_context.colorspace == 1
        (seen,) = shown(encoder, [encoded.data])
    assert np.abs(seen[120, 160].astype(int) - (230, 120, 40)).max() < 8


def test_all_levels_have_the_same_parameter_sets() -> None:
    found = set()
    for level in QUALITY_LEVELS:
        with Encoder((320, 240), level, BITS) as encoder:
            encoder.encode(marked(1), 0.0, key=True)
            found.add(parameter_sets(encoder.stream))
    assert len(found) == 1
    assert len(found.pop()) > 20


def test_lower_levels_make_smaller_frames() -> None:
    noise = np.random.default_rng(5).integers(0, 255, (240, 320, 4), dtype=np.uint8)
    sizes = []
    for level in QUALITY_LEVELS:
        with Encoder((320, 240), level, BITS) as encoder:
            sizes.append(len(encoder.encode(noise, 0.0, key=True).data))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 8


def test_times_are_milliseconds() -> None:
    with Encoder((320, 240), QUALITY_LEVELS[0], BITS) as encoder:
        assert encoder.stream.time_base == Fraction(1, 1000)


def test_a_size_without_pixels_is_refused() -> None:
    with pytest.raises(RecordingFailed, match="did not start"):
        Encoder((0, 0), QUALITY_LEVELS[0], BITS).open()


def test_a_closed_encoder_raises(tmp_path: Path) -> None:
    encoder = Encoder((320, 240), QUALITY_LEVELS[0], BITS)
    encoder.open()
    encoder.close()
    encoder.close()
    with pytest.raises(RecordingFailed, match="not open"):
        encoder.encode(plain(), 0.0, key=True)
