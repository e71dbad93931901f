"""Waterfalls as drawings."""

from deskhand.tools.run_pictures.advice import Advice
from deskhand.tools.run_pictures.waterfall import Row, TimeSpan, Waterfall
from deskhand.tools.run_pictures.waterfall_picture import (
    MOST_ROWS,
    advice_html,
    totals_html,
    waterfall_svg,
)

FOUND = Waterfall(
    (
        Row(
            0,
            "a",
            "Click <OK>",
            "left_click",
            False,
            (TimeSpan("model", 0, 3), TimeSpan("action", 3, 4)),
        ),
        Row(None, "b", "Ada", "", False, (TimeSpan("person", 4, 8),)),
    )
)


def test_totals_have_names_and_widths() -> None:
    found = totals_html(FOUND)
    assert "width:37.50%" in found
    assert "model 3.0 s" in found
    assert "waiting for a person 4.0 s" in found
    assert totals_html(Waterfall(())) == ""


def test_a_drawing_has_a_row_for_each_step() -> None:
    found = waterfall_svg(FOUND)
    assert "<title>1 Click &lt;OK&gt; (4.0 s)</title>" in found
    assert "<title>Ada (4.0 s)</title>" in found
    assert found.count("<rect") == 3
    assert "height:60px" in found
    assert 'x="500.0" y="6" width="500.0"' in found
    assert waterfall_svg(Waterfall(())) == ""


def test_a_drawing_of_a_long_run_is_bounded() -> None:
    rows = tuple(Row(n, "a", "b", "c", False, (TimeSpan("own", n, n + 1),)) for n in range(1000))
    found = waterfall_svg(Waterfall(rows))
    assert found.count("<g>") == MOST_ROWS
    assert "height:640px" in found


def test_rows_without_time_have_no_length() -> None:
    rows = tuple(Row(n, "a", "b", "c", False, ()) for n in range(MOST_ROWS))
    last = Row(1, "a", "b", "c", False, (TimeSpan("own", 0, 1),))
    assert waterfall_svg(Waterfall((*rows, last))).count("<rect") == 0


def test_advice_is_a_list() -> None:
    assert "<li>Less &lt;b&gt;.</li>" in advice_html([Advice("model", 1.0, "Less <b>.")])
    assert advice_html([]) == ""
