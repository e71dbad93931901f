import json

from deskhand.desktop.browser.policy import (
    SWITCHED_OFF,
    BrowserLaunch,
    decide,
    desktop_policy,
    missing,
    proxy_policy,
)

WHY = "user namespaces do not work here (unshare failed: Operation not permitted)"


def test_the_policy_starts_no_hosts_of_extensions() -> None:
    policy = json.loads(desktop_policy())
    assert policy["NativeMessagingBlocklist"] == ["*"]
    assert policy["NativeMessagingUserLevelHosts"] is False


def test_the_policy_admits_no_extension_and_no_capture_of_the_screen() -> None:
    policy = json.loads(desktop_policy())
    assert policy["ExtensionInstallBlocklist"] == ["*"]
    assert policy["ExtensionDeveloperModeSettings"] == 1
    assert policy["ScreenCaptureAllowed"] is False


def test_the_policy_has_no_bubble_that_shows_a_password() -> None:
    assert json.loads(desktop_policy())["PasswordManagerEnabled"] is False


def test_a_sandbox_that_works_is_used() -> None:
    for setting in ("auto", "required"):
        found = decide("/usr/bin/chromium", setting, "")
        assert found.sandboxed
        assert (found.reason, found.refusal, found.warning) == ("", "", "")


def test_auto_starts_the_browser_without_a_sandbox_and_reports_why() -> None:
    found = decide("/usr/bin/chromium", "auto", WHY)
    assert not found.sandboxed
    assert found.refusal == ""
    assert found.warning == f"The browser runs without its sandbox: {WHY}"
    assert found.status() == {
        "browser": {"program": "/usr/bin/chromium", "refusal": ""},
        "browser_sandbox": {"setting": "auto", "on": False, "reason": WHY},
    }


def test_required_refuses_to_start_the_browser_with_the_reason() -> None:
    found = decide("/usr/bin/chromium", "required", WHY)
    assert found.sandboxed
    assert found.refusal == f"its sandbox is required, and {WHY}"
    assert found.warning == f"The browser does not start: {found.refusal}"


def test_off_needs_no_probe() -> None:
    found = decide("/usr/bin/chromium", "off", "")
    assert (found.sandboxed, found.reason, found.refusal) == (False, SWITCHED_OFF, "")


def test_without_a_browser_the_desktop_reports_what_to_install() -> None:
    found = missing("no browser is installed", "auto")
    assert found == BrowserLaunch(None, "auto", True, "", "no browser is installed")
    assert found.warning == "The browser does not start: no browser is installed"


def test_the_policy_of_a_proxy_leaves_no_other_way_out() -> None:
    policy = json.loads(proxy_policy("http://127.0.0.1:3128", ("localhost", "10.0.0.7")))
    assert policy == {
        "ProxyMode": "fixed_servers",
        "ProxyServer": "http://127.0.0.1:3128",
        "ProxyBypassList": "localhost;10.0.0.7",
        "QuicAllowed": False,
        "WebRtcIPHandling": "disable_non_proxied_udp",
        "DnsOverHttpsMode": "off",
    }
