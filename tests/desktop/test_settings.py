import shlex
from pathlib import Path

import pytest

from desktop.geometry import Size
from desktop.settings import parse


def test_defaults_are_usable() -> None:
    settings = parse([])
    assert settings.listen == "127.0.0.1:0"
    assert settings.size == Size(1920, 1080)
    assert settings.linger is None


def test_everything_can_be_set() -> None:
    line = (
        "--listen unix:/x --token-file /t --json --folder /f --user u --size 800x600"
        " --allow-host a --allow-host b --inherit-env E --workdir /w --linger 9"
    )
    settings = parse(shlex.split(line))
    assert settings.token_file == Path("/t")
    assert settings.size == Size(800, 600)
    assert settings.allowed_hosts == ("a", "b")
    assert settings.inherit_env == ("E",)
    assert settings.linger == 9.0


def test_a_screen_that_exists_already_may_be_named_or_not() -> None:
    assert parse([]).attach is None
    assert parse(["--attach"]).attach == ""
    assert parse(["--attach", ":5", "--json"]).attach == ":5"


@pytest.mark.parametrize("size", ["800", "800x", "0x600", "800x10000", "axb"])
def test_a_wrong_size_ends_with_a_usage_error(
    size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--size", size])
    assert ended.value.code == 2
    assert "--size" in capsys.readouterr().err
