"""`deskhand ca`: the certificates of the control planes of a cluster."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskhand.tools.cluster.authority_files import AuthorityFiles, IssuedCertificate
from deskhand.tools.cluster.certificates import ClusterPeer
from deskhand.tools.cluster.errors import ClusterError
from deskhand.tools.cluster.member import Member, Role
from deskhand.tools.commands.exit_status import DONE, FAILED
from deskhand.tools.commands.terminal import print_error, print_json, print_line

Json = dict[str, Any]


def init(folder: Path, as_json: bool) -> int:
    """Make a certificate authority; return the exit status."""

    def work() -> Json:
        AuthorityFiles.create(folder, _now())
        return {"ca": str(folder)}

    text = f"made a certificate authority in {folder}; keep it off the hosts of the cluster"
    return _reported(work, lambda _: text, as_json)


def issue(folder: Path, role: Role, name: str, out: Path | None, as_json: bool) -> int:
    """Issue the files of a member of the cluster; return the exit status."""
    place = out or Path(f"{role}-{name}")

    def work() -> Json:
        peer = AuthorityFiles(folder).issue(Member(role, name), place, _now())
        return {**_facts(peer), "folder": str(place)}

    def text(made: Json) -> str:
        return f"wrote {place}, valid until {made['valid_until'][:10]}; copy it to the host"

    return _reported(work, text, as_json)


def revoke(folder: Path, role: Role, name: str, as_json: bool) -> int:
    """Revoke the certificates of a member of the cluster; return the exit status."""

    def work() -> Json:
        return {"revoked": AuthorityFiles(folder).revoke(Member(role, name), _now())}

    def text(made: Json) -> str:
        place = folder / "revoked.pem"
        return f"revoked {made['revoked']} of {role} {name}; copy {place} to all hosts"

    return _reported(work, text, as_json)


def listing(folder: Path, as_json: bool) -> int:
    """List the certificates; return the exit status."""

    def work() -> Json:
        return {"certificates": [_listed(one) for one in AuthorityFiles(folder).issued()]}

    def text(found: Json) -> str:
        return "\n".join(map(_line, found["certificates"])) or "no certificate was issued"

    return _reported(work, text, as_json)


def _reported(work: Callable[[], Json], text: Callable[[Json], str], as_json: bool) -> int:
    try:
        made = work()
    except (ClusterError, OSError) as error:
        print_error(str(error))
        return FAILED
    if as_json:
        print_json(made)
    else:
        print_line(text(made))
    return DONE


def _facts(peer: ClusterPeer) -> Json:
    return {
        "role": peer.member.role,
        "name": peer.member.name,
        "serial": f"{peer.serial:x}",
        "valid_until": peer.not_after.isoformat(),
    }


def _listed(one: IssuedCertificate) -> Json:
    return {**_facts(one.peer), "revoked": one.revoked}


def _line(one: Json) -> str:
    state = "revoked" if one["revoked"] else f"valid until {one['valid_until'][:10]}"
    return f"{one['role']} {one['name']}  {state}"


def _now() -> datetime:
    return datetime.now(UTC)
