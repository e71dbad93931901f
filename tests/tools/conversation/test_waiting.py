from deskhand.tools.conversation.waiting import WaitingFor, most_urgent, stored_wait, waiting_for


def test_each_kind_has_its_text() -> None:
    assert waiting_for("database", 5.0) == WaitingFor("database", "waiting for the database", 5.0)
    assert waiting_for("question", 5.0).text == "waiting for an answer"


def test_the_most_urgent_wait_is_reported_and_of_one_kind_the_oldest() -> None:
    question, person = waiting_for("question", 1.0), waiting_for("human_in_control", 2.0)
    old, new = waiting_for("database", 3.0), waiting_for("database", 4.0)
    assert most_urgent([]) is None
    assert most_urgent([question, person]) == person
    assert most_urgent([question, new, old]) == old


def test_the_wait_for_a_person_in_control_comes_before_a_question() -> None:
    assert stored_wait(None, None) is None
    assert stored_wait(None, 2.0) == waiting_for("question", 2.0)
    assert stored_wait(3.0, 2.0) == waiting_for("human_in_control", 3.0)
