from deskhand.desktop.files.errors import Forbidden, MissingFile


def test_each_error_names_the_path() -> None:
    assert str(MissingFile("/f")) == "'/f' does not exist: no such file or directory"
    assert str(Forbidden("/f")) == "'/f': permission denied"
