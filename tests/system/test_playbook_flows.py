"""Flows of the bench, run once by a script, saved, and replayed without a model.

`python -m bench.playbooks` plays all ten of them, three times and after a change of the page.
"""

import pytest

from bench.playbook_flows import FLOWS, Flow
from bench.playbooks import flow_plane, measured

pytestmark = [pytest.mark.x11, pytest.mark.browser]


PLAYED = {"form": [], "table": [pytest.mark.full], "login": [pytest.mark.full]}
"""Names of flows, and their further markers."""


@pytest.mark.soak
@pytest.mark.slow("four runs with a browser each")
@pytest.mark.parametrize(
    "flow",
    [pytest.param(f, marks=PLAYED[f.name], id=f.name) for f in FLOWS if f.name in PLAYED],
)
def test_a_flow_is_replayed_without_a_model(
    flow: Flow, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("flow")
    with flow_plane(folder, think=0.1) as (plane, model, pages):
        figures = measured(plane, model, pages, flow, replays=1)
    assert figures["screen"]["passed"] == "1/1", figures
    assert figures["window"]["passed"] == "1/1", figures
    assert figures["model_requests"] == 0
