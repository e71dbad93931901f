from scripts.make_command_reference import PAGE, page


def test_the_page_is_that_of_the_declarations() -> None:
    assert PAGE.read_text() == page(), "run: python -m scripts.make_command_reference"
