import shlex
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.client.command import service_command
from deskhand.desktop.geometry import Size
from deskhand.desktop.settings import dialects, parse


def test_an_input_without_an_end_is_refused() -> None:
    command = service_command("--until-input-ends")
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == 2
    assert "the standard input must be a pipe" in ended.stderr


def test_an_input_with_a_token_has_no_end_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--until-input-ends", "--token-file", "/dev/stdin"])
    assert "the input ends after the token" in capsys.readouterr().err


def test_defaults_are_usable() -> None:
    settings = parse([])
    assert settings.listen == "127.0.0.1:0"
    assert settings.size == Size(1920, 1080)
    assert (settings.linger, settings.insecure) == (None, False)


def test_everything_can_be_set() -> None:
    line = (
        "--listen unix:/x --token-file /t --json --folder /f --user u --size 800x600"
        " --xserver Xvfb --display on-request --glx --layout us(intl)"
        " --timezone Europe/Berlin --locale de_DE"
        " --allow-host a --allow-host b --inherit-env E --env A=b=c --env D='' --workdir /w"
        " --linger 9 --insecure"
    )
    settings = parse(shlex.split(line))
    assert settings.token_file == Path("/t")
    assert settings.size == Size(800, 600)
    assert (settings.xserver, settings.glx) == ("Xvfb", True)
    assert settings.display == "on-request"
    assert parse(["--workdir-group", "50000"]).workdir_group == 50_000
    assert settings.layout == "us(intl)"
    assert settings.timezone == "Europe/Berlin"
    assert settings.locale == "de_DE.UTF-8"
    assert settings.allowed_hosts == ("a", "b")
    assert settings.inherit_env == ("E",)
    assert settings.environment == (("A", "b=c"), ("D", ""))
    assert (settings.linger, settings.insecure) == (9.0, True)


def test_a_weight_is_one_that_the_kernel_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--desktop-cpu-weight", "10000"]).desktop_cpu_weight == 10_000
    with pytest.raises(SystemExit):
        parse(["--desktop-cpu-weight", "0"])
    assert "'0' is not a weight of 1 to 10000" in capsys.readouterr().err


def test_a_screen_that_exists_already_may_be_named_or_not() -> None:
    assert parse([]).attach is None
    assert parse(["--attach"]).attach == ""
    assert parse(["--attach", ":5", "--json"]).attach == ":5"


def test_the_memory_of_commands_is_limited_in_mebibytes_or_not_at_all() -> None:
    assert parse([]).command_memory_bytes is None
    assert parse(["--command-memory", "512"]).command_memory_bytes == 512 * 1024 * 1024


@pytest.mark.parametrize("size", ["800", "800x", "0x600", "800x10000", "axb"])
def test_a_wrong_size_ends_with_a_usage_error(
    size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--size", size])
    assert ended.value.code == 2
    assert "--size" in capsys.readouterr().err


@pytest.mark.parametrize("pair", ["A", "=b", ""])
def test_a_variable_without_a_name_or_value_is_a_usage_error(
    pair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(["--env", pair])
    assert "NAME=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--layout", "us; id"),
        ("--layout", "-option"),
        ("--timezone", "Mars/Base"),
        ("--timezone", "../passwd"),
        ("--locale", "de_DE.ISO-8859-1"),
        ("--locale", "de DE"),
        ("--desktop-processes", "0"),
        ("--desktop-memory", "2 GiB"),
        ("--workdir-group", "0"),
        ("--workdir-group", "users"),
    ],
)
def test_what_cannot_be_set_ends_with_a_usage_error(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse([f"{option}={value}"])
    assert ended.value.code == 2
    assert f"argument {option}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["de_DE", "de_DE.utf8", "de_DE.UTF-8"])
def test_a_locale_is_a_utf8_one_however_it_is_written(name: str) -> None:
    assert parse(["--locale", name]).locale == "de_DE.UTF-8"


@pytest.mark.parametrize(
    "option", ["--layout=de", "--glx", "--xserver=Xvfb", "--display=on-request"]
)
def test_somebodys_own_screen_is_left_as_it_is(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(["--attach", ":5", option])
    assert option.partition("=")[0] in capsys.readouterr().err


def test_the_browser_and_its_sandbox_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert (parse([]).browser, parse([]).browser_sandbox) == ("", "auto")
    settings = parse(["--browser", "vivaldi", "--browser-sandbox", "required"])
    assert (settings.browser, settings.browser_sandbox) == ("vivaldi", "required")
    for wrong in (["--browser-sandbox", "maybe"], ["--attach", ":0", "--browser", "vivaldi"]):
        with pytest.raises(SystemExit):
            parse(wrong)
        assert "--browser" in capsys.readouterr().err


def test_ids_of_users_have_a_base() -> None:
    assert parse([]).uid_base == 2_000_000_000
    assert parse(["--uid-base", "300000"]).uid_base == 300_000
    for wrong in ("0", "-1", "1000", "many", "4000000000"):
        with pytest.raises(SystemExit):
            parse(["--uid-base", wrong])


def test_dialects_are_off_until_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse([]).speak == ()
    assert parse(["--speak", "cdp, osworld:lan,cdp"]).speak == ("cdp", "osworld:lan")
    assert parse(["--speak", "osworld:lan"]).speaks_osworld
    assert not parse(["--speak", "cdp"]).speaks_osworld
    with pytest.raises(SystemExit):
        parse(["--speak", "telnet"])
    assert "there are osworld, osworld:lan, cdp" in capsys.readouterr().err


def test_the_removed_dialect_of_cua_is_refused_with_what_to_use(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse(["--speak", "cdp,cua"])
    refused = capsys.readouterr().err
    assert "cua-sandbox 0.9 left" in refused
    assert "osworld" in refused
    assert "MCP at /mcp" in refused


def test_pages_of_other_origins_may_be_admitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse([]).allowed_origins == ()
    settings = parse(["--allow-origin", "https://a.example", "--allow-origin", "http://b:8080"])
    assert settings.allowed_origins == ("https://a.example", "http://b:8080")
    with pytest.raises(SystemExit):
        parse(["--allow-origin", "a.example"])
    assert "https://example.com" in capsys.readouterr().err


def test_each_dialect_counts_once() -> None:
    assert dialects(["cdp", "osworld", "cdp"]) == ("cdp", "osworld")


@pytest.mark.parametrize("name", ["telnet", "", 7, ["cdp"]])
def test_an_unknown_dialect_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(ValueError, match="there are osworld"):
        dialects([name])


def test_mcp_servers_are_trusted_on_request_only() -> None:
    assert not parse([]).trust_mcp_servers
    assert parse(["--trust-mcp-servers"]).trust_mcp_servers


def test_the_directory_of_a_profile_is_absolute() -> None:
    assert parse(["--profile", "kept"]).profile == Path.cwd() / "kept"
    assert parse(["--profile", "/var/kept"]).profile == Path("/var/kept")
