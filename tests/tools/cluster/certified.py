"""An authority with the files of a control plane and two nodes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from deskhand.tools.cluster.authority_files import AuthorityFiles
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.trust import ClusterTls

PLANE, N7, N8 = Member("plane", "p1"), Member("node", "n7"), Member("node", "n8")


class Cluster:
    """Files that the commands ``deskhand ca`` write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = AuthorityFiles.create(folder / "ca", datetime.now(UTC))
        self.plane, self.n7, self.n8 = map(self.issue, (PLANE, N7, N8))

    def issue(self, member: Member, days: int = 0) -> ClusterTls:
        now = datetime.now(UTC) - timedelta(days=days)
        self.files.issue(member, self.folder / member.name, now)
        return ClusterTls(self.folder / member.name)

    def spread_revocations(self) -> None:
        listed = (self.folder / "ca" / "revoked.pem").read_bytes()
        for member in (PLANE, N7, N8):
            (self.folder / member.name / "revoked.pem").write_bytes(listed)
