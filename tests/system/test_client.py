"""The Python client of a control plane, with a control plane of its own."""

from pathlib import Path

import pytest

from deskhand import Client, NoControlPlane, NotOnDesktop
from tests.system.services import PATIENCE

pytestmark = pytest.mark.x11


@pytest.mark.soak
@pytest.mark.slow("a whole run")
def test_a_program_runs_a_task_and_keeps_its_video(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Client.launch("--model", "scripted:tour", data_dir=data) as launched:
        # Found as the command line finds it.
        with Client.connect(data_dir=data) as client, client.events() as events:
            run = client.run("Show me", title="A tour", budget={"steps": 30})
            assert next(event.run_id for event in events if event.run_id == run.id)
            ended = run.wait(6 * PATIENCE)
            assert ended.done, ended
            assert (ended.title, ended.steps) == ("A tour", len(run.steps()))
            assert run.steps()[0].video_end is not None
            assert run.messages()[0].text == "Show me"
            assert run.report() == ended.report
            assert run.recording.save(tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
            video = client.files.save(ended.recording_ids[0], tmp_path / "file.mp4")
            assert video.read_bytes() == client.files.read(ended.recording_ids[0])
            assert ended.recording_ids[0] in {file.id for file in run.files()}
            assert [found.id for found in client.runs("tour")] == [run.id]
            assert client.runs("nothing of that kind") == ()
        with launched.desktops.new("mine") as desktop:
            assert desktop.run("echo hello").output == "hello\n"
            mine = next(one for one in launched.desktops.list() if one.name == "mine")
            with launched.desktops.get(mine.id) as again:
                assert again.screenshot().data.startswith(b"\x89PNG")
            assert desktop.status().display
        assert mine.id not in {one.id for one in launched.desktops.list()}
        with pytest.raises(NotOnDesktop):
            launched.desktops.end(mine.id)
        share = launched.tokens.new(f"run:{run.id}:view", name="for Ann")
        assert share.url
        assert [one.name for one in launched.tokens.list()] == ["for Ann"]
        launched.tokens.delete(share.id)
        launched.secrets.set("mail", "a long value", domains=["mail.example"])
        assert [one.name for one in launched.secrets.list()] == ["mail"]
        launched.secrets.delete("mail")
    with pytest.raises(NoControlPlane):
        Client.connect(data_dir=data)
