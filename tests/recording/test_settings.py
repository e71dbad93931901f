from deskhand.recording.settings import RecordingSettings


def test_every_default_has_the_documented_value() -> None:
    settings = RecordingSettings()
    assert settings.largest_file == 100 * 1024 * 1024
    assert settings.most_at_once == 5
    assert settings.rest_after == 600
    assert settings.squeeze.longest > 2 * settings.squeeze.margin


def test_a_small_disk_needs_less_free_space() -> None:
    settings = RecordingSettings()
    assert settings.to_start.bytes_of(1 << 40) == 1 << 30
    assert settings.to_start.bytes_of(1_000_000) == 20_000
    assert settings.to_go_on.bytes_of(1 << 40) == 256 << 20
    assert settings.to_go_on.bytes_of(1_000_000) == 5_000
