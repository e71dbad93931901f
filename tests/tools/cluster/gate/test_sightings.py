from deskhand.tools.cluster.gate.sightings import PlaneSightings


def test_control_planes_are_expected_for_a_while_after_their_last_request() -> None:
    time = [100.0]
    sightings = PlaneSightings(lambda: time[0], linger_seconds=10.0)
    assert sightings.recently()
    time[0] = 109.0
    sightings.seen()
    time[0] = 118.0
    assert (sightings.age, sightings.left, sightings.recently()) == (9.0, 1.0, True)
    time[0] = 119.0
    assert (sightings.left, sightings.recently()) == (0.0, False)
    time[0] = 130.0
    assert sightings.left == 0.0
