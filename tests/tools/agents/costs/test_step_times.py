from deskhand.tools.agents.costs.step_times import STAGES, StepTimes, total_times
from deskhand.tools.agents.providers.port import RequestTimes

REQUEST = RequestTimes(queued=0.5, first_byte=1.0, total=2.0)


def test_the_rest_of_the_time_between_two_ends_is_our_own() -> None:
    times = StepTimes(10.0)
    stages = {"act_ms": 100.0, "settle_ms": 200.0}
    first = times.of_step(13.0, 0.0, REQUEST, stages)
    assert first == {
        "queue_ms": 500.0,
        "model_first_byte_ms": 1000.0,
        "model_ms": 2000.0,
        "act_ms": 100.0,
        "settle_ms": 200.0,
        "own_ms": 200.0,
    }
    assert times.of_step(13.25, 0.0, None, {"act_ms": 100.0})["own_ms"] == 150.0


def test_waits_are_not_our_own_time() -> None:
    times = StepTimes(0.0)
    assert times.of_step(60.0, 59.0, None, {})["own_ms"] == 1000.0
    assert times.of_step(70.0, 68.0, None, {})["own_ms"] == 1000.0


def test_calls_that_run_at_once_do_not_get_less_than_nothing() -> None:
    times = StepTimes(0.0)
    assert times.of_step(1.0, 0.0, None, {"act_ms": 990.0})["own_ms"] == 10.0
    assert times.of_step(1.01, 0.0, None, {"act_ms": 1000.0})["own_ms"] == 0.0


def test_the_times_of_steps_are_added_up_by_stage() -> None:
    total = total_times([{"act_ms": 1.0, "model_first_byte_ms": 9.0}, {"act_ms": 2.0}, {}])
    assert total == dict.fromkeys(STAGES, 0.0) | {"act_ms": 3.0}
