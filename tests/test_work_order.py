import pytest

from tests.work_order import ordered, shares, shuffled


@pytest.mark.parametrize(
    ("tests", "workers", "expected"),
    [
        ("aBcD", 1, "BDac"),
        ("abcABCDdef", 2, "ABabcdCDef"),
        ("", 4, ""),
        ("abc", 4, "abc"),
        ("AB", 4, "AB"),
    ],
)
def test_half_of_the_workers_begin_with_tests_of_whole_services(
    tests: str, workers: int, expected: str
) -> None:
    assert "".join(ordered(tests, str.isupper, workers)) == expected


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 5])
def test_no_test_is_lost(workers: int) -> None:
    tests = list(range(101))
    assert sorted(ordered(tests, lambda number: number % 3 == 0, workers)) == tests


def test_tests_with_the_same_services_have_the_same_key() -> None:
    assert shares(["tmp_path", "plane"], ("plane", "chrome")) == (True, False)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_shuffled_file_stays_together(seed: int) -> None:
    tests = [f"{file}{number}" for file in "abcd" for number in range(5)]
    found = shuffled(tests, lambda test: test[0], seed)
    assert found != tests
    assert sorted(found) == tests
    files = [test[0] for test in found]
    assert files == [file for file in dict.fromkeys(files) for _ in range(5)]
    assert found == shuffled(tests, lambda test: test[0], seed)
