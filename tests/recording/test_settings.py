from deskhand.recording.settings import RecordingSettings


def test_every_default_has_the_documented_value() -> None:
    settings = RecordingSettings()
    assert settings.largest_file == 100 * 1024 * 1024
    assert settings.most_at_once == 5
    assert settings.rest_after == 600
    assert settings.squeeze.longest > 2 * settings.squeeze.margin
