"""Decision how the desktop's browser is started. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from deskhand.desktop.settings import SandboxMode

POLICY_FOLDERS = tuple(
    PurePosixPath("/etc", name) for name in ("chromium", "opt/chrome", "opt/edge", "brave")
)
"""Folders in which browsers look for managed policies."""

SWITCHED_OFF = "the setting browser_sandbox is off"


@dataclass(frozen=True)
class BrowserLaunch:
    """The way in which the browser is started, or the reason why it is not."""

    program: str | None
    """Absolute path; None if no browser is installed."""
    setting: SandboxMode
    sandboxed: bool
    reason: str = ""
    """Why the sandbox is off or cannot work; empty where it works."""
    refusal: str = ""
    """Why the browser is not started; empty if it is."""

    @property
    def warning(self) -> str:
        """One sentence for people, empty if the browser starts with its sandbox."""
        if self.refusal:
            return f"The browser does not start: {self.refusal}"
        if not self.sandboxed:
            return f"The browser runs without its sandbox: {self.reason}"
        return ""

    def status(self) -> dict[str, Any]:
        """Return the fields of the status route."""
        return {
            "browser": {"program": self.program, "refusal": self.refusal},
            "browser_sandbox": {
                "setting": self.setting,
                "on": self.sandboxed,
                "reason": self.reason,
            },
        }


def missing(reason: str, setting: SandboxMode) -> BrowserLaunch:
    """Return the launch where no browser is installed."""
    return BrowserLaunch(None, setting, sandboxed=setting != "off", refusal=reason)


def decide(program: str, setting: SandboxMode, unavailable: str) -> BrowserLaunch:
    """Return the launch; ``unavailable`` is the reason why the sandbox cannot work, or empty."""
    if setting == "off":
        return BrowserLaunch(program, setting, sandboxed=False, reason=SWITCHED_OFF)
    if not unavailable:
        return BrowserLaunch(program, setting, sandboxed=True)
    if setting == "auto":
        return BrowserLaunch(program, setting, sandboxed=False, reason=unavailable)
    refusal = f"its sandbox is required, and {unavailable}"
    return BrowserLaunch(program, setting, sandboxed=True, reason=unavailable, refusal=refusal)


def desktop_policy() -> str:
    """Return the managed policy, as JSON, of the browser of a desktop with mounts of its own.

    Hosts of extensions are programs that the browser would start with its own rights. The warning
    about switches would cover a part of each page, because of the switch for the debugging pipe.
    Extensions read all pages, and a page that captures the screen sees what other programs show.
    The machine's own policy admits extensions: ``ExtensionInstallAllowlist`` has the ids. Developer
    mode would load a folder of the agent under one of these ids. The bubble that offers to save a
    password shows it.
    """
    policy = {
        "CommandLineFlagSecurityWarningsEnabled": False,
        "ExtensionDeveloperModeSettings": 1,
        "ExtensionInstallBlocklist": ["*"],
        "NativeMessagingBlocklist": ["*"],
        "NativeMessagingUserLevelHosts": False,
        "PasswordManagerEnabled": False,
        "ScreenCaptureAllowed": False,
    }
    return json.dumps(policy, indent=2) + "\n"


def proxy_policy(proxy: str, bypassed: Sequence[str]) -> str:
    """Return the managed policy, as JSON, by which all traffic goes through a proxy.

    QUIC and the direct connections of WebRTC, which no HTTP proxy carries, are off
    (https://chromeenterprise.google/policies/).
    """
    policy = {
        "ProxyMode": "fixed_servers",
        "ProxyServer": proxy,
        "ProxyBypassList": ";".join(bypassed),
        "QuicAllowed": False,
        "WebRtcIPHandling": "disable_non_proxied_udp",
        "DnsOverHttpsMode": "off",
    }
    return json.dumps(policy, indent=2) + "\n"
