from deskhand.tools.secrets.masking import Masked, ProbeDetector, ValueMask, masked_json


def test_each_value_is_masked_and_counted_by_its_name() -> None:
    mask = ValueMask({"pin": ["4821"], "long": ["4821-1234", "4822"]})
    assert mask("4821, 4821-1234, 4822") == Masked("••••, ••••, ••••", {"pin": 1, "long": 2})
    assert mask("nothing") == Masked("nothing", {})
    assert ValueMask({})("4821") == Masked("4821")


def test_a_json_value_is_masked_in_all_its_texts() -> None:
    value = {"a": ["x", 1, None, {"x": "ax"}], "b": ("x",)}
    masked = {"a": ["-", 1, None, {"-": "a-"}], "b": ["-"]}
    assert masked_json(value, lambda text: text.replace("x", "-")) == masked


def test_a_chat_that_probes_a_value_is_reported_once() -> None:
    detector = ProbeDetector(often=20, period=60.0)
    assert detector.masked("a", {"pin": 19, "mail": 1}, 0.0) == []
    assert detector.masked("a", {"pin": 1}, 59.0) == ["pin"]
    assert detector.masked("a", {"pin": 100}, 60.0) == []
    assert detector.masked("b", {"pin": 20}, 60.0) == ["pin"]


def test_masks_that_come_slowly_are_not_reported() -> None:
    detector = ProbeDetector(often=20, period=60.0)
    for minute in range(5):
        assert detector.masked("a", {"pin": 19}, 60.0 * minute) == []


def test_a_deleted_chat_is_forgotten() -> None:
    detector = ProbeDetector(often=2)
    assert detector.masked("a", {"pin": 2}, 0.0) == ["pin"]
    assert detector.masked("b", {"pin": 1}, 0.0) == []
    detector.forget("a")
    assert detector.masked("a", {"pin": 1}, 0.0) == []
    assert detector.masked("b", {"pin": 1}, 0.0) == ["pin"]
