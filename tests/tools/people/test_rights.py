import pytest

from deskhand.tools.people.rights import EVERYONE, SharedRun, granted_scopes
from deskhand.vncbridge.auth.scopes import Need

MEMBER, WATCHER = ("role:member",), ("role:watcher",)
OWN = SharedRun("c1", "person:ada", frozenset())
SHARED = SharedRun("c1", "person:bob", frozenset({"ada"}))
FOR_ALL = SharedRun("c1", "owner", frozenset({EVERYONE}))
FOREIGN = SharedRun("c1", "person:bob", frozenset({"eve"}))
READS = "run:c1:conversation"


@pytest.mark.parametrize(
    ("run", "role", "scopes"),
    [
        (OWN, MEMBER, ("chat:c1",)),
        (SHARED, MEMBER, (READS, "run:c1:stop")),
        (FOR_ALL, MEMBER, (READS, "run:c1:stop")),
        (FOREIGN, MEMBER, ()),
        # As after a change of the role: the run of a watcher was started as a member.
        (OWN, WATCHER, (READS,)),
        (SHARED, WATCHER, (READS,)),
        (FOREIGN, WATCHER, ()),
    ],
)
@pytest.mark.parametrize("kind", ["chat", "file"])
def test_rights_to_a_run(
    kind: str, run: SharedRun, role: tuple[str, ...], scopes: tuple[str, ...]
) -> None:
    needed = Need(kind, "x", "share")  # type: ignore[arg-type]
    assert granted_scopes("ada", role, needed, [run]) == scopes


@pytest.mark.parametrize(
    ("runs", "role", "scopes"),
    [
        ([OWN], MEMBER, ("desktop:d1:control",)),
        ([OWN, SHARED], MEMBER, ("desktop:d1:view",)),
        ([OWN, FOREIGN], MEMBER, ()),
        ([], MEMBER, ()),
        ([OWN], WATCHER, ("desktop:d1:view",)),
        ([FOR_ALL], WATCHER, ("desktop:d1:view",)),
        ([FOREIGN], WATCHER, ()),
    ],
)
def test_a_desktop_shows_all_runs_on_it(
    runs: list[SharedRun], role: tuple[str, ...], scopes: tuple[str, ...]
) -> None:
    assert granted_scopes("ada", role, Need("desktop", "d1", "view"), runs) == scopes
