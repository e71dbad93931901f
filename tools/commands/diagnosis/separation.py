"""Findings about what keeps agents, other users and the internet apart. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from deskhand.desktop.isolation.protections import LOSSES, Protection, of_applications
from deskhand.desktop.network.egress import Egress, Mode
from deskhand.tools.control_plane.permissions import OpenPath
from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot
from deskhand.tools.secrets.keys import CREDENTIAL, FILE, StoreKey

from .finding import Finding


def isolation_finding(root: bool) -> Finding:
    """Return the finding about users of desktops, which only root can make."""
    if root:
        return Finding("isolation", "ok", "user: each desktop works as a user of its own")
    return Finding(
        "isolation",
        "warn",
        "shared: agents run as you and can do what you can",
        "start Deskhand as root, so that desktops get users of their own",
    )


def protection_findings(protections: Iterable[Protection]) -> Iterator[Finding]:
    """Yield a finding for each protection of a desktop."""
    for one in protections:
        because = f", because {one.reason}" if one.reason else ""
        effect = f"; {one.effect}" if one.effect else ""
        status: Literal["ok", "warn"] = "warn" if one.reason else "ok"
        yield Finding(f"protection {one.name}", status, f"{one.state}{because}{effect}")


def option_findings() -> Iterator[Finding]:
    """Yield a finding for each option by which a desktop of root lacks protections."""
    glx = tuple(one.name for one in of_applications(glx=True) if one.missing)
    everything = tuple(LOSSES)
    for option, names in (("--glx", glx), ("--attach", everything), ("--user", everything)):
        detail = "; ".join(f"no {name}: {LOSSES[name]}" for name in names)
        yield Finding(f"desktops with {option}", "ok", detail)


def decoder_findings(refusal: str) -> Iterator[Finding]:
    """Yield the finding about the decoder if it has no namespaces; ``refusal`` states why."""
    if refusal:
        detail = f"has no namespaces, only limits and a user of its own: {refusal}"
        yield Finding("decoder", "warn", detail, "allow namespaces")


def access_findings(paths: Iterable[OpenPath]) -> Iterator[Finding]:
    """Yield a finding for each path of the data directory that other users can access."""
    for found in paths:
        detail = f"{found.path}: other users can access it (mode {found.mode:04o})"
        yield Finding("data directory access", "warn", detail, "the next start closes it")


def egress_finding(egress: Egress, *, root: bool, missing: Callable[[Mode], str]) -> Finding:
    """Return the finding about the egress of new desktops.

    ``missing`` returns what a mode of egress lacks on this machine.
    """
    lacking = missing(egress.mode)
    if egress.mode != "open" and not root:
        lacking = "only root can make a network namespace"
    if not lacking:
        return Finding("egress", "ok", egress.mode)
    if egress.required:
        remedy = "install what is missing, or set egress to open"
        return Finding("egress", "fail", f"{egress.mode} cannot be enforced: {lacking}", remedy)
    remedy = f"install what is missing, and desktops get {egress.mode}"
    return Finding("egress", "warn", f"open, because {lacking}", remedy)


def rights_findings(user: ProcessUser | StaysRoot | None) -> Iterator[Finding]:
    """Yield the finding about the user that the control plane of root becomes."""
    if isinstance(user, StaysRoot):
        yield Finding("control plane user", "warn", f"root, because {user.because}", user.remedy)
    elif user is not None:
        yield Finding("control plane user", "ok", user.name)


def secrets_finding(key: StoreKey | None) -> Finding:
    """Return where the key of the secret store is; ``None`` if there is no key yet."""
    if key is None:
        return Finding("secrets", "ok", "none is stored yet")
    if key.source != FILE:
        return Finding("secrets", "ok", f"encrypted with the key of the {key.source}")
    return Finding(
        "secrets",
        "warn",
        "encrypted with a key in a file beside them (secrets.key, mode 0600)",
        f"pass a key as the systemd credential {CREDENTIAL} (LoadCredentialEncrypted=)",
    )
