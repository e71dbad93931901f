from deskhand.desktop.launch.probe import namespaces_refused


def test_a_probe_that_succeeds_has_no_reason() -> None:
    assert namespaces_refused(("/bin/true",)) == ""


def test_the_reason_is_the_message_of_the_probe() -> None:
    failing = ("/bin/sh", "-c", "echo 'unshare: Operation not permitted' >&2; exit 1")
    assert namespaces_refused(failing) == "unshare: Operation not permitted"
    assert namespaces_refused(("/bin/false",)) == "exit status 1"


def test_a_missing_program_is_a_reason() -> None:
    assert "No such file" in namespaces_refused(("/nonexistent/unshare",))
