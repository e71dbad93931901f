import json

from deskhand.tools.cluster.ray_node.ray_command import RayPlace, ray_command


def test_a_node_offers_its_places_under_its_name() -> None:
    command = ray_command("/bin/ray", RayPlace("10.0.0.1:6379", "n-7", 4, "10.0.0.7", 7443))
    assert command[:4] == ["/bin/ray", "start", "--block", "--address=10.0.0.1:6379"]
    (resources,) = [one for one in command if one.startswith("--resources=")]
    assert json.loads(resources.partition("=")[2]) == {"desk": 4, "desk_n-7": 4}
    assert "--labels=deskhand-node=n-7,deskhand-gate=at-10.0.0.7_7443" in command
    assert "--node-ip-address=10.0.0.7" in command
    assert not [one for one in command if "port" in one]


def test_ports_are_pinned_from_the_first_one_on() -> None:
    place = RayPlace("10.0.0.1:6379", "n7", 4, "localhost", 7443, first_port=7460)
    command = ray_command("ray", place)
    assert "--node-manager-port=7460" in command
    assert "--metrics-export-port=7465" in command
    assert command[-2:] == ["--min-worker-port=7470", "--max-worker-port=7499"]


def test_ray_chooses_the_address_itself_where_the_gate_has_a_name_or_loopback() -> None:
    for host in ("localhost", "127.0.0.1", "::1", "node.example.com"):
        command = ray_command("ray", RayPlace("10.0.0.1:6379", "n7", 4, host, 7443))
        assert not [one for one in command if one.startswith("--node-ip-address")]
