from deskhand.desktop.dialects.osworld.refusals import fields_of
from deskhand.desktop.errors import DesktopRefused


def test_a_refused_lease_names_its_code_first() -> None:
    error = DesktopRefused(409, "The desktop is in use.", "Ann is in control", "human_in_control")
    assert fields_of(error)["message"] == "human_in_control: Ann is in control"


def test_other_refusals_have_their_sentences() -> None:
    assert fields_of(DesktopRefused(400, "Bad.", "Worse."))["error"] == "Bad. Worse."
    missing = DesktopRefused(404, "/x does not exist: no such file or directory")
    assert fields_of(missing)["error"] == "File not found"
