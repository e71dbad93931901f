"""Checks of `deskhand doctor` on a host of a cluster."""

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from deskhand.tools.cluster.errors import ClusterError
from deskhand.tools.cluster.placing.node_view import ClusterView
from deskhand.tools.cluster.placing.records import cluster_view
from deskhand.tools.cluster.ray_token import MODE, token_problem
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError

from .cluster import certificate_finding, node_findings, token_finding
from .finding import Finding


def cluster_findings(settings: Settings) -> Iterator[Finding]:
    """Yield the findings about the certificate, the token of Ray, and the nodes."""
    variables = dict(os.environ)
    if settings.certificates:
        try:
            own = ClusterTls(Path(settings.certificates)).own
        except ClusterError as error:
            yield Finding("certificate", "fail", str(error), "write it with deskhand ca")
        else:
            member = f"{own.member.role} {own.member.name}"
            yield certificate_finding(member, own.not_after, datetime.now(UTC))
            if own.member.role == "node":
                # The daemon of a node gives this to Ray itself.
                variables[MODE] = "token"
    if settings.cluster:
        yield token_finding(token_problem(variables))
    if settings.cluster and settings.database:
        try:
            found = asyncio.run(_read(settings.database))
        except StoreError as error:
            yield Finding("nodes", "fail", str(error), "see the finding about the database")
        else:
            yield from node_findings(found.nodes, found.waiting)


async def _read(database: str) -> ClusterView:
    async with await Store.open(database) as store:
        return await store.read(cluster_view)
