from scripts.make_people_table import PAGE, page


def test_the_table_is_that_of_the_rules() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m scripts.make_people_table"
