from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot
from deskhand.tools.control_plane.protections import plane_protections


def test_a_control_plane_without_root_lacks_nothing() -> None:
    user = ProcessUser("deskhand", 990, 990, "/nonexistent")
    for found, name in ((user, "deskhand"), (None, "alice")):
        listed = [one.to_json() for one in plane_protections(found, "alice", "")]
        assert listed == [
            {"name": "control plane user", "state": name, "because": None, "remedy": None},
            {"name": "decoder namespaces", "state": "on", "because": None, "remedy": None},
        ]


def test_root_and_shared_namespaces_have_a_reason_and_a_remedy() -> None:
    user, decoder = plane_protections(StaysRoot("there is no user x", "useradd x"), "root", "EPERM")
    assert (user.state, user.because, user.remedy) == ("root", "there is no user x", "useradd x")
    assert (decoder.state, decoder.because) == ("none", "EPERM")
    assert decoder.remedy
