import pytest

from deskhand.desktop.files.errors import (
    ChangedMeanwhile,
    FileError,
    Forbidden,
    MissingFile,
    OutsideRoots,
    TooManyWatches,
)


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (MissingFile("/f"), 404, "'/f' does not exist: no such file or directory"),
        (Forbidden("/f"), 403, "'/f': permission denied"),
        (OutsideRoots("/f"), 403, "'/f' is outside of the directories that may be used"),
        (
            ChangedMeanwhile("/f"),
            409,
            "'/f' was changed by somebody else meanwhile: read it again",
        ),
        (TooManyWatches(64), 429, "At most 64 trees can be watched at once."),
    ],
)
def test_each_error_is_a_sentence_with_a_status(
    error: FileError, status: int, sentence: str
) -> None:
    assert (error.status, str(error)) == (status, sentence)
