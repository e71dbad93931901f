from deskhand.desktop.launch.display_number import free_display, reserve_display
from deskhand.desktop.x11.server_files import X_SOCKETS


def test_each_desktop_gets_a_number_of_its_own() -> None:
    one, held = reserve_display()
    with held:
        other, another = reserve_display()
        with another:
            assert one != other


def test_a_number_whose_display_has_a_socket_is_not_free() -> None:
    with free_display() as number:
        pass
    socket = X_SOCKETS / f"X{number}"
    X_SOCKETS.mkdir(exist_ok=True)
    socket.touch()
    try:
        with free_display() as other:
            assert other != number
            # It is reserved.
            with free_display() as another:
                assert another != other
    finally:
        socket.unlink()
