from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.network.egress import Egress, Grant
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.tools.control_plane.settings import (
    HIDDEN,
    PREFIX,
    BadSetting,
    SettingInForce,
    Settings,
    check_plane,
    egress_policy,
    load,
    settings_in_force,
)

DOCUMENTED = (Path(__file__).parents[3] / "docs" / "settings.md").read_text()
HOME = Path("/home/ann/.local/share/deskhand")


def test_defaults_are_usable() -> None:
    settings = load({}, {}, "", HOME)
    assert settings.data_dir == HOME
    assert settings.listen == "127.0.0.1:7777"
    assert settings.model is None


def test_flags_beat_environment_beats_file_beats_defaults() -> None:
    file = 'listen = "127.0.0.1:1"\nmodel = "from-file"\nmost_desktops = 3\n'
    environment = {"DESKHAND_LISTEN": "127.0.0.1:2", "DESKHAND_MODEL": "from-environment"}
    settings = load({"listen": "127.0.0.1:3", "model": None}, environment, file, HOME)
    assert settings.listen == "127.0.0.1:3"
    assert settings.model == "from-environment"
    assert settings.most_desktops == 3
    sources = {"listen": "flag", "model": "environment", "most_desktops": "file"}
    assert settings.sources == sources


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('cluster = "ray://10.0.0.5"', "cluster: give HOST:PORT"),
        ('internal_listen = "7443"', "internal_listen: give HOST:PORT"),
        ('internal_listen = "http://10.0.0.5:7443"', "internal_listen: give HOST:PORT"),
        ('internal_listen = "10.0.0.5:7443"', "certificates and database are needed, too"),
        ('internal_listen = "10.0.0.5:7443"\ncertificates = "/c"', "and database are needed"),
    ],
)
def test_a_port_for_other_control_planes_has_what_it_needs(lines: str, reason: str) -> None:
    with pytest.raises(BadSetting, match=reason):
        load({}, {}, lines, HOME)
    whole = 'internal_listen = "[fd00::5]:7443"\ncertificates = "/c"\ndatabase = "postgresql://h/d"'
    assert load({}, {}, whole, HOME).internal_listen == "[fd00::5]:7443"


def test_the_database_is_a_file_or_on_a_server() -> None:
    assert load({}, {}, "", HOME).database_place == HOME / "deskhand.db"
    url = "postgresql://ann@db.example.com/deskhand"
    assert load({}, {}, f'database = "{url}"', HOME).database_place == url
    secret = "postgresql://ann:s3cret@db.example.com/deskhand"
    found = load({}, {"DESKHAND_DATABASE": secret}, "", HOME)
    assert found.database_place == secret
    assert "s3cret" not in repr(found)
    (shown,) = [one for one in settings_in_force(found) if one.name == "database"]
    assert shown == SettingInForce("database", HIDDEN, "environment")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://ann@db/deskhand", "postgresql://"),
        ("postgresql://[::1/deskhand", "not valid"),
        ("postgresql://ann:s3cret@db/deskhand", "PGPASSFILE"),
        ("postgresql://ann@db/deskhand?password=s3cret", "PGPASSFILE"),
        ("postgresql://ann@db/deskhand?sslpassword=s3cret", "PGPASSFILE"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused(url: str, reason: str) -> None:
    with pytest.raises(BadSetting, match=f"database: .*{reason}") as caught:
        load({}, {}, f'database = "{url}"', HOME)
    assert "s3cret" not in str(caught.value)


def test_a_password_in_the_query_of_the_database_is_refused_in_the_environment_too() -> None:
    url = "postgresql://ann@db/deskhand?password=s3cret"
    with pytest.raises(BadSetting, match=r"database: .*PGPASSWORD, PGPASSFILE") as caught:
        load({}, {"DESKHAND_DATABASE": url}, "", HOME)
    assert "s3cret" not in str(caught.value)


def test_a_control_plane_with_nodes_needs_a_bucket_and_a_node_does_not() -> None:
    ray = {"DESKHAND_CLUSTER": "10.0.0.5:6379", "DESKHAND_CERTIFICATES": "/c"}
    found = load({}, ray, "", HOME)
    with pytest.raises(BadSetting, match="cluster: database and store are needed, too"):
        check_plane(found)
    whole = ray | {"DESKHAND_DATABASE": "postgresql://h/d", "DESKHAND_STORE": "s3://b"}
    check_plane(load({}, whole, "", HOME))
    check_plane(load({}, {}, "", HOME))


@pytest.mark.parametrize(
    ("lines", "outlived"),
    [("", False), ("keep_desktops = true", True), ('cluster = "10.0.0.5:6379"', True)],
)
def test_desktops_that_are_kept_and_those_of_nodes_outlive_a_control_plane(
    lines: str, outlived: bool
) -> None:
    assert load({}, {}, lines, HOME).is_outlived is outlived


def test_values_get_the_type_of_their_setting() -> None:
    environment = {
        "DESKHAND_MOST_DESKTOPS": "2",
        "DESKHAND_KEEP_DESKTOPS": "yes",
        "DESKHAND_ALLOWED_HOSTS": "a.example, b.example,",
        "DESKHAND_DATA_DIR": "/srv/deskhand",
    }
    settings = load({}, environment, "", HOME)
    assert settings.most_desktops == 2
    assert settings.keep_desktops is True
    assert settings.allowed_hosts == ("a.example", "b.example")
    assert settings.data_dir == Path("/srv/deskhand")


def test_lists_in_the_file_become_tuples() -> None:
    file = 'allowed_origins = ["https://a.example"]\n'
    assert load({}, {}, file, HOME).allowed_origins == ("https://a.example",)


@pytest.mark.parametrize(
    ("environment", "file", "message"),
    [
        ({"DESKHAND_MOST_DESKTOPS": "many"}, "", "DESKHAND_MOST_DESKTOPS: 'many' is not a whole"),
        ({"DESKHAND_KEEP_DESKTOPS": "maybe"}, "", "DESKHAND_KEEP_DESKTOPS: 'maybe' is not a sw"),
        ({}, "lissten = 1", "deskhand.toml: 'lissten' is none of"),
        ({}, "listen = ", "deskhand.toml: "),
        ({}, "listen = 1", "listen must be a text, not 1"),
        ({}, "data_dir = false", "data_dir must be a text, not False"),
        ({}, 'most_desktops = "3"', "most_desktops must be a whole number, not '3'"),
        ({}, "most_desktops = true", "most_desktops must be a whole number, not True"),
        ({}, "decoder_seconds = 0", "decoder_seconds: give 1 or more"),
        ({}, 'approval = "maybe"', "approval: 'maybe' is none of auto"),
        ({}, 'notify_url = "nowhere"', "notify_url: give an address such as"),
        ({}, 'oidc_issuer = "http://id.example.com"', "oidc_issuer: give an address such as"),
        ({}, 'oidc_issuer = "https://id.example.com"', "oidc_client_id and oidc_roles are needed"),
        (
            {"DESKHAND_OIDC_CLIENT_ID": "x"},
            'oidc_issuer = "https://id.example.com"\noidc_roles = ["a=root"]',
            "oidc_roles: 'a=root' is not",
        ),
        ({}, 'notify_url = "https://a.example/hook"', "notify_secret: give"),
        ({}, "model_requests = 0", "model_requests: give 1 or more"),
        ({}, 'effort = "huge"', "effort: 'huge' is none of low, medium, high, xhigh, max, none"),
        ({}, "keep_desktops = 1", "keep_desktops must be true or false, not 1"),
        ({}, 'allowed_hosts = "a.example"', "allowed_hosts must be a list of texts"),
        ({}, "allowed_hosts = [1]", "allowed_hosts must be a list of texts"),
    ],
)
def test_a_mistake_names_its_source(environment: dict[str, str], file: str, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        load({}, environment, file, HOME)


@pytest.mark.parametrize("name", [one.name for one in fields(Settings) if one.name != "sources"])
def test_each_setting_is_in_the_documentation_once(name: str) -> None:
    assert DOCUMENTED.count(f"\n| `{name}` | `{PREFIX}{name.upper()}` |") == 1


@pytest.mark.parametrize("store", ["", "s3://films", "s3://films/some/place"])
def test_a_bucket_is_taken(store: str) -> None:
    assert load({"store": store}, {}, "", Path("/d")).store == store


@pytest.mark.parametrize("store", ["/some/folder", "s3://", "https://films", "s3:///x"])
def test_what_is_no_bucket_is_refused(store: str) -> None:
    with pytest.raises(BadSetting, match="is no bucket"):
        load({}, {"DESKHAND_STORE": store}, "", Path("/d"))


def test_the_sandbox_of_the_browser_is_auto_required_or_off() -> None:
    assert load({}, {}, "", HOME).browser_sandbox == "auto"
    found = load({}, {"DESKHAND_BROWSER": "vivaldi"}, 'browser_sandbox = "required"', HOME)
    assert (found.browser, found.browser_sandbox) == ("vivaldi", "required")
    with pytest.raises(BadSetting, match="'maybe' is none of auto, required, off"):
        load({}, {"DESKHAND_BROWSER_SANDBOX": "maybe"}, "", HOME)


def test_by_default_desktops_of_root_have_the_internet_and_others_all() -> None:
    policy = egress_policy(load({}, {}, 'egress_grants = ["127.0.0.1:80"]', HOME), root=True)
    grants = (Grant("127.0.0.1", 80),)
    assert policy.base == Egress("internet", (), grants, required=False)
    assert egress_policy(load({}, {}, "", HOME), root=False).base == Egress()


def test_an_egress_that_is_set_is_that_of_all_desktops() -> None:
    file = 'egress = "list"\negress_allow = ["docs.example.com"]'
    policy = egress_policy(load({}, {}, file, HOME), root=True)
    assert policy.base == Egress("list", ("docs.example.com",))


@pytest.mark.parametrize(
    "file", ['egress = "all"', 'egress = "list"\negress_allow = ["a b"]', 'egress_grants = ["x"]']
)
def test_a_wrong_egress_is_refused(file: str) -> None:
    with pytest.raises(BadSetting, match="egress: "):
        load({}, {}, file, HOME)


@pytest.mark.parametrize("setting", ["listen", "internal_listen", "public_listen"])
def test_a_grant_of_the_control_planes_own_port_is_refused(setting: str) -> None:
    given: dict[str, Any] = {setting: "10.0.0.5:7000", "egress_grants": ("localhost:7000",)}
    with pytest.raises(InvalidEgress, match="localhost:7000 is the control plane"):
        egress_policy(Settings(data_dir=HOME, **given), root=False)


def test_a_control_plane_does_not_start_with_a_grant_of_its_own_port() -> None:
    with pytest.raises(BadSetting, match="localhost:7777 is the control plane"):
        load({}, {}, 'egress_grants = ["localhost:7777"]', HOME)


def test_a_weight_that_the_kernel_refuses_is_refused() -> None:
    assert load({}, {}, "desktop_cpu_weight = 10000", HOME).desktop_cpu_weight == 10000
    with pytest.raises(BadSetting, match="10001 is not a weight"):
        load({}, {}, "desktop_cpu_weight = 10001", HOME)
    with pytest.raises(BadSetting, match="'-1' is not a whole number"):
        load({}, {"DESKHAND_DESKTOP_MEMORY_MIB": "-1"}, "", HOME)


def test_ids_of_users_have_a_base() -> None:
    assert load({}, {}, "uid_base = 300000", HOME).uid_base == 300_000
    with pytest.raises(BadSetting, match="uid_base: must be a multiple of 100000"):
        load({}, {"DESKHAND_UID_BASE": "1000"}, "", HOME)


def test_dialects_of_new_desktops_are_configured() -> None:
    assert load({}, {}, "", Path("/d")).speak == ()
    assert load({}, {"DESKHAND_SPEAK": "osworld, cdp"}, "", Path("/d")).speak == ("osworld", "cdp")
    with pytest.raises(BadSetting, match="there are osworld"):
        load({}, {}, 'speak = ["telnet"]', Path("/d"))
    with pytest.raises(BadSetting, match="use osworld, or MCP"):
        load({}, {}, 'speak = ["cua"]', Path("/d"))


def test_approvals_have_one_of_three_modes() -> None:
    assert load({"approval": "every"}, {}, "", Path("/d")).approval == "every"
    with pytest.raises(BadSetting, match="'never' is none of auto, risky, every"):
        load({"approval": "never"}, {}, "", Path("/d"))


@pytest.mark.parametrize("name", ["question_seconds", "question_place_seconds"])
def test_a_question_has_time(name: str) -> None:
    assert getattr(load({}, {}, f"{name} = 1", Path("/d")), name) == 1
    with pytest.raises(BadSetting, match=f"{name}: give 1 or more"):
        load({}, {}, f"{name} = 0", Path("/d"))


def test_notifications_need_an_address_and_a_secret() -> None:
    hook = {"notify_url": "https://example.com/hook?x=1", "notify_secret": "0123456789abcdef"}
    loaded = load(hook, {}, "", Path("/d"))
    assert loaded.notify_url == hook["notify_url"]
    assert hook["notify_secret"] not in repr(loaded)
    with pytest.raises(BadSetting, match="notify_secret: give 16"):
        load({**hook, "notify_secret": "short"}, {}, "", Path("/d"))
    for url in ("ftp://example.com", "https://user:word@example.com", "example.com"):
        with pytest.raises(BadSetting, match="notify_url: give an address"):
            load({**hook, "notify_url": url}, {}, "", Path("/d"))


@pytest.mark.parametrize("name", ["log_level", "log_format"])
def test_an_unknown_level_or_format_of_the_log_is_refused(name: str) -> None:
    environment = {f"DESKHAND_{name.upper()}": "loud"}
    with pytest.raises(BadSetting, match=rf"^{name}: 'loud' is none of "):
        load({}, environment, "", Path("/data"))


def test_a_limit_on_what_is_kept_of_zero_is_refused() -> None:
    with pytest.raises(BadSetting, match="keep_recordings_gb: give 1 or more"):
        load({}, {"DESKHAND_KEEP_RECORDINGS_GB": "0"}, "", HOME)


def test_the_sign_in_by_a_provider_has_its_settings() -> None:
    environment = {
        "DESKHAND_OIDC_ISSUER": "http://127.0.0.1:9000/realm",
        "DESKHAND_OIDC_CLIENT_ID": "deskhand",
        "DESKHAND_OIDC_CLIENT_SECRET": "kept to itself",
        "DESKHAND_OIDC_ROLES": "admins=owner,*=watcher",
    }
    loaded = load({}, environment, "", Path("/d"))
    assert loaded.oidc_roles == ("admins=owner", "*=watcher")
    assert "kept to itself" not in repr(loaded)


def test_each_setting_has_its_source_and_secrets_are_hidden() -> None:
    secret = "a secret of enough characters"
    environment = {
        "DESKHAND_NOTIFY_SECRET": secret,
        "DESKHAND_ALLOWED_HOSTS": "a.example,b.example",
    }
    settings = load({"listen": "127.0.0.1:1"}, environment, "most_desktops = 2", Path("/data"))
    found = {one.name: one for one in settings_in_force(settings)}
    assert found["notify_secret"] == SettingInForce("notify_secret", HIDDEN, "environment")
    assert found["allowed_hosts"].value == "a.example, b.example"
    assert found["listen"].source == "flag"
    assert found["most_desktops"] == SettingInForce("most_desktops", "2", "file")
    assert found["model"] == SettingInForce("model", "", "default")
    assert secret not in repr(found)
