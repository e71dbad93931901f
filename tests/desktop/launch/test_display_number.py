from deskhand.desktop.launch.display_number import reserve_display


def test_each_desktop_gets_a_number_of_its_own() -> None:
    one, held = reserve_display()
    with held:
        other, another = reserve_display()
        with another:
            assert one != other
