import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.accessibility.password_fields import (
    REMEMBERED,
    TYPING,
    PasswordFocusHistory,
    text_length,
)

BROWSER, EDITOR = ":1.2", ":1.3"
NAME, SECRET = "/name", "/secret"


def at_the_password(now: float = 1.0) -> PasswordFocusHistory:
    stays = PasswordFocusHistory()
    stays.focused(BROWSER, SECRET, now)
    stays.described(BROWSER, SECRET, True)
    return stays


def test_where_nobody_tells_anything_no_password_is_known() -> None:
    stays = PasswordFocusHistory()
    assert (stays.known, stays.widgets) == (True, ())
    assert not stays.password_between(0.0, 99.0)
    stays.deactivated(BROWSER, 1.0)
    stays.blurred(BROWSER, NAME, 1.0)
    stays.gone(BROWSER, 1.0)
    stays.described(BROWSER, NAME, True)
    assert not stays.password_between(0.0, 99.0)


def test_a_password_field_has_the_keyboard_until_another_widget_has_it() -> None:
    stays = at_the_password()
    assert (stays.known, stays.widgets) == (True, ((BROWSER, SECRET),))
    assert not stays.password_between(0.0, 0.5)
    assert stays.password_between(0.0, 1.0)
    assert stays.password_between(99.0, 99.0)
    stays.focused(BROWSER, NAME, 5.0)
    assert not stays.known
    stays.described(BROWSER, NAME, False)
    assert (stays.known, stays.widgets) == (True, ((BROWSER, NAME),))
    assert stays.password_between(5.0, 99.0)
    assert not stays.password_between(5.1, 99.0)


def test_a_field_that_was_passed_on_the_way_counts_too() -> None:
    stays = PasswordFocusHistory()
    stays.focused(BROWSER, NAME, 1.0)
    stays.focused(BROWSER, SECRET, 2.0)
    stays.focused(BROWSER, "/send", 3.0)
    for widget in (SECRET, NAME, "/send"):
        stays.described(BROWSER, widget, widget == SECRET)
    assert stays.password_between(2.5, 99.0)
    assert not stays.password_between(3.5, 99.0)


def test_a_window_that_lost_the_keyboard_has_no_field_with_it() -> None:
    stays = at_the_password()
    stays.deactivated(BROWSER, 4.0)
    stays.deactivated(BROWSER, 6.0)
    assert stays.widgets == ()
    assert stays.password_between(4.0, 99.0)
    assert not stays.password_between(4.5, 99.0)
    assert stays.activated(BROWSER, 7.0) == SECRET
    stays.described(BROWSER, SECRET, True)
    assert stays.password_between(9.0, 99.0)
    assert stays.activated(BROWSER, 9.0) is None
    assert stays.activated(EDITOR, 9.0) is None


def test_only_the_widget_that_has_the_keyboard_can_lose_it() -> None:
    stays = at_the_password()
    stays.blurred(BROWSER, NAME, 4.0)
    assert stays.password_between(9.0, 99.0)
    stays.blurred(BROWSER, SECRET, 5.0)
    assert not stays.password_between(9.0, 99.0)


def test_applications_do_not_take_the_keyboard_from_each_other_unsaid() -> None:
    stays = at_the_password()
    stays.focused(EDITOR, NAME, 3.0)
    stays.described(EDITOR, NAME, False)
    assert stays.password_between(9.0, 99.0)
    assert set(stays.widgets) == {(BROWSER, SECRET), (EDITOR, NAME)}


def test_an_application_that_ended_has_no_widgets() -> None:
    stays = at_the_password()
    stays.focused(BROWSER, NAME, 3.0)
    stays.focused(EDITOR, NAME, 3.0)
    stays.gone(BROWSER, 4.0)
    assert stays.widgets == ((EDITOR, NAME),)
    assert not stays.known
    stays.described(EDITOR, NAME, False)
    assert stays.known
    assert not stays.password_between(9.0, 99.0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["focused", "blurred", "activated", "deactivated", "gone", "described"]
            ),
            st.sampled_from([BROWSER, EDITOR]),
            st.sampled_from([NAME, SECRET]),
        )
    )
)
def test_whatever_happens_only_a_password_field_makes_a_password(
    events: list[tuple[str, str, str]],
) -> None:
    stays, met = PasswordFocusHistory(), False
    for now, (event, app, widget) in enumerate(events):
        match event:
            case "focused":
                stays.focused(app, widget, now)
            case "blurred":
                stays.blurred(app, widget, now)
            case "activated":
                stays.activated(app, now)
            case "deactivated":
                stays.deactivated(app, now)
            case "gone":
                stays.gone(app, now)
            case _:
                stays.described(app, widget, widget == SECRET)
                met = met or widget == SECRET
        assert met or not stays.password_between(0.0, 99.0)


@pytest.mark.parametrize(
    ("action", "text", "reported"),
    [
        ("type", "hunter2!", "8 characters"),
        ("type", "x", "1 character"),
        ("type", "", "0 characters"),
        ("key", "h u n t", "4 keys"),
        ("key", "a", "1 key"),
        ("key", "shift+a", "1 key"),
        ("key", "altgr+q", "1 key"),
        ("key", "KP_5", "1 key"),
        ("key", "ß Return", "2 keys"),
        ("key_down", "ž", "1 key"),
        ("hold_key", "space", "1 key"),
        ("key", "Tab", "Tab"),
        ("key", "Return", "Return"),
        ("key", "ctrl+a", "ctrl+a"),
        ("key", "XF86AudioMute", "XF86AudioMute"),
        ("key_up", "shift", "shift"),
        ("key", "no-such-key", "11 characters"),
        ("left_click", "ctrl", "ctrl"),
    ],
)
def test_characters_are_counted_and_other_keys_are_named(
    action: str, text: str, reported: str
) -> None:
    assert text_length(action, text) == reported


@given(st.sampled_from(TYPING), st.text(alphabet="äbc123", min_size=1))
def test_no_character_that_was_typed_is_told(action: str, text: str) -> None:
    reported = text_length(action, text)
    assert reported.split()[1].rstrip("s") in ("character", "key")


def test_of_widgets_without_an_answer_the_newest_are_kept_and_the_others_count_as_passwords() -> (
    None
):
    stays = PasswordFocusHistory()
    for number in range(REMEMBERED + 1):
        stays.focused(BROWSER, f"/{number}", float(number))
    stays.described(BROWSER, "/0", False)
    assert stays.password_between(0.0, 0.5)
    assert not stays.password_between(1.5, 999.0)
    for number in range(REMEMBERED + 1):
        stays.described(BROWSER, f"/{number}", False)
    assert stays.known
