"""The lowest versions with which `python -m scripts.lowest` runs the tests."""

from packaging.requirements import Requirement

from scripts.lowest import lowest, requirements


def test_each_requirement_has_the_version_at_which_its_range_begins() -> None:
    wanted = ["one>=1.2,<3", "two[extra]>=0.9.54,<1", "three <4, >=2; python_version > '3'"]
    assert lowest(wanted) == ["one==1.2", "two==0.9.54", "three==2"]


def test_each_requirement_of_this_package_permits_its_lowest_version() -> None:
    wanted = [Requirement(one) for one in requirements()]
    pins = [Requirement(one) for one in lowest(requirements())]
    assert [one.name for one in pins] == [one.name for one in wanted]
    for one, pin in zip(wanted, pins, strict=True):
        (exact,) = pin.specifier
        assert one.specifier.contains(exact.version)
