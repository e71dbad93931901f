from deskhand.desktop.accessibility.roles import current_name


def test_a_button_has_one_name_in_all_releases() -> None:
    assert current_name("push button") == "button"
    assert current_name("button") == "button"


def test_other_roles_keep_their_names() -> None:
    for role in ("", "push button menu", "password text", "entry", "toggle button"):
        assert current_name(role) == role
