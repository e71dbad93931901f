import pytest

from deskhand.desktop.launch_port.template_options import are_of_template


@pytest.mark.parametrize(
    "options",
    [
        *("--size", None, [3], ["--size"], ["--size", 3], ["--user", "root"], ["--size", "1x1"]),
        *(["--size", "1280x720 --user"], ["--env", "PATH=/x"], ["--env", "LD_PRELOAD=/x"]),
        *(["--env", "a=b"], ["--env", "A\0=b"], ["--desktop-memory", "-1"]),
        ["--desktop-memory", "1"] * 65,
    ],
)
def test_other_options_than_those_of_templates_are_refused(options: object) -> None:
    assert not are_of_template(options)


def test_options_of_templates_are_accepted() -> None:
    options = ["--size", "1280x720", "--env", "A=b c", "--desktop-tmp", "64"]
    assert are_of_template(options)
    assert are_of_template([])
