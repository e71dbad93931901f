from deskhand.tools.agents.providers.port import Usage


def test_usages_add_up_field_by_field() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert Usage(1, 2, 3, 4).total == 10
