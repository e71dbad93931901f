from pathlib import Path

import pytest

from deskhand.desktop.isolation.protections import COSTS, LOSSES, Protection
from deskhand.desktop.network.egress import Egress, Mode
from deskhand.tools.commands.diagnosis.separation import (
    access_findings,
    decoder_findings,
    egress_finding,
    isolation_finding,
    option_findings,
    protection_findings,
    rights_findings,
    secrets_finding,
)
from deskhand.tools.control_plane.permissions import OpenPath
from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot
from deskhand.tools.secrets.keys import StoreKey


@pytest.mark.parametrize(("root", "status"), [(True, "ok"), (False, "warn")])
def test_only_root_gives_desktops_users_of_their_own(root: bool, status: str) -> None:
    assert isolation_finding(root).status == status


def test_a_protection_that_is_missing_is_a_warning_with_its_reason() -> None:
    whole, lacking = protection_findings(
        (Protection("namespaces", "on"), Protection("limits", "none", "there is no cgroup"))
    )
    assert (whole.status, whole.detail) == ("ok", "on")
    assert lacking.status == "warn"
    assert lacking.detail == f"none, because there is no cgroup; {LOSSES['limits']}"


def test_a_protection_that_holds_is_reported_with_its_cost() -> None:
    (found,) = protection_findings((Protection("filtered X clients", "on"),))
    assert (found.status, found.detail) == ("ok", f"on; {COSTS['filtered X clients']}")


def test_options_are_reported_with_what_their_desktops_lose() -> None:
    glx, attached, requested = option_findings()
    assert glx.detail == f"no filtered X clients: {LOSSES['filtered X clients']}"
    assert all(loss in attached.detail for loss in LOSSES.values())
    assert (attached.name, requested.name) == ("desktops with --attach", "desktops with --user")


def test_a_decoder_without_namespaces_is_a_warning() -> None:
    assert not list(decoder_findings(""))
    (found,) = decoder_findings("namespaces are disabled")
    assert (found.status, found.remedy) == ("warn", "allow namespaces")


def test_a_path_that_others_can_access_is_a_warning() -> None:
    (found,) = access_findings([OpenPath(Path("/data"), 0o755)])
    assert found.status == "warn"
    assert found.detail == "/data: other users can access it (mode 0755)"


def lacking_slirp(mode: Mode) -> str:
    return "" if mode == "open" else "slirp4netns is not installed (apt-get install slirp4netns)"


def test_an_egress_that_can_be_enforced_works() -> None:
    for egress in (Egress(), Egress("internet", required=False)):
        found = egress_finding(egress, root=True, missing=lambda _: "")
        assert (found.status, found.detail) == ("ok", egress.mode)


def test_an_egress_that_was_chosen_and_cannot_be_enforced_is_a_failure() -> None:
    found = egress_finding(Egress("internet"), root=True, missing=lacking_slirp)
    assert (found.status, "slirp4netns is not installed" in found.detail) == ("fail", True)


def test_a_default_egress_that_cannot_be_enforced_is_a_warning() -> None:
    default = Egress("internet", required=False)
    found = egress_finding(default, root=False, missing=lacking_slirp)
    assert found.status == "warn"
    assert found.detail == "open, because only root can make a network namespace"


def test_a_control_plane_that_stays_root_is_a_warning() -> None:
    assert not list(rights_findings(None))
    (own,) = rights_findings(ProcessUser("deskhand", 900, 900, "/"))
    assert (own.status, own.detail) == ("ok", "deskhand")
    (root,) = rights_findings(StaysRoot("it cannot read the data", "chown the data"))
    assert (root.status, root.remedy) == ("warn", "chown the data")


def test_a_key_beside_the_secrets_is_a_warning() -> None:
    assert secrets_finding(None).detail == "none is stored yet"
    beside = secrets_finding(StoreKey("file", b"key"))
    assert (beside.status, "systemd credential deskhand-secrets" in beside.remedy) == ("warn", True)
    away = secrets_finding(StoreKey("systemd credential", b"key"))
    assert (away.status, away.detail) == ("ok", "encrypted with the key of the systemd credential")
