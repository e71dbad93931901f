"""The egress of a desktop, derived from its settings."""

from collections.abc import Mapping
from pathlib import Path

from deskhand.desktop.browser.policy import POLICY_FOLDERS, desktop_policy, proxy_policy
from deskhand.desktop.isolation.protections import OPEN, Protection, Protections
from deskhand.desktop.network.egress import Egress, parse_egress
from deskhand.desktop.network.kernel import show_file_in
from deskhand.desktop.network.network import DesktopNetwork
from deskhand.desktop.network.proxy_config import PROXY_URL, bypassed
from deskhand.desktop.settings import DesktopSettings

_POLICY_FILE = "policies/managed/deskhand.json"


def egress_of(settings: DesktopSettings) -> Egress:
    """Return the egress that was requested.

    Raises:
        InvalidEgress: If a name or a grant is wrong.
    """
    return parse_egress(
        settings.egress,
        settings.egress_allow,
        settings.egress_grants,
        required=not settings.egress_optional,
    )


def with_egress(protections: Protections, network: DesktopNetwork) -> Protections:
    """Return the protections with the egress, unless all may be reached as requested.

    The reason is why it is not the requested one, which is ``open`` then.
    """
    if network.because:
        return protections.adding(Protection("egress", OPEN, network.because))
    enforced = network.egress.mode != "open"
    return protections.adding(Protection("egress", "on")) if enforced else protections


def show_desktop_policy() -> None:
    """Show the managed policy of this desktop's browser in the present mount namespace."""
    for folder in POLICY_FOLDERS:
        if Path(folder).is_dir():
            show_file_in(Path(folder), _POLICY_FILE, desktop_policy())


def browser_policies(egress: Egress) -> Mapping[Path, str]:
    """Return the managed policy of each browser's folder with which it uses the proxy."""
    policy = proxy_policy(PROXY_URL, bypassed(egress.grants))
    return {Path(folder): policy for folder in POLICY_FOLDERS}
