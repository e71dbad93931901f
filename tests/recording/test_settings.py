from deskhand.recording.settings import RecordingSettings


def test_every_default_is_usable_and_as_promised() -> None:
    settings = RecordingSettings()
    assert settings.largest_file == 100 * 1024 * 1024
    assert settings.most_at_once == 5
    assert settings.rest_after == 600
    assert settings.squeeze.longest > 2 * settings.squeeze.margin
