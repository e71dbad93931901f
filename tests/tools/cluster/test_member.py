import pytest

from deskhand.tools.cluster.errors import BadMember
from deskhand.tools.cluster.member import ROLES, Member


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ["a", "n7", "host-12", "x" * 40])
def test_a_uri_is_read_as_it_was_written(role: str, name: str) -> None:
    member = Member(role, name)  # type: ignore[arg-type]
    assert member.uri == f"deskhand:{role}:{name}"
    assert Member.of_uri(member.uri) == member
    assert member.host == f"{name}.{role}.deskhand.internal"


@pytest.mark.parametrize("name", ["", "-a", "a-", "N7", "a b", "a.b", "ä", "x" * 41, "a\n"])
def test_a_name_is_a_label_of_a_host_name(name: str) -> None:
    with pytest.raises(BadMember, match="use up to 40 lower-case letters"):
        Member("node", name)
    with pytest.raises(BadMember):
        Member.of_uri(f"deskhand:node:{name}")


@pytest.mark.parametrize(
    "uri", ["", "n7", "deskhand:n7", "deskhand:owner:n7", "x deskhand:node:n7", "Deskhand:node:n7"]
)
def test_another_uri_names_nobody(uri: str) -> None:
    with pytest.raises(BadMember, match="names no control plane and no node"):
        Member.of_uri(uri)
