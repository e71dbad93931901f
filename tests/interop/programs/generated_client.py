"""Starts a process, clicks, takes a screenshot and reads a recording with a generated client.

Usage: generated_client.py PACKAGE_PARENT URL TOKEN
"""

import importlib
import sys
import uuid
from typing import Any


def main(parent: str, url: str, token: str) -> None:
    """Use the client in the package ``generated`` below ``parent``."""
    sys.path.insert(0, parent)

    def part(name: str) -> Any:
        return importlib.import_module(f"generated.{name}")

    models = part("models")
    client = part("client").AuthenticatedClient(url, token)
    _run_a_process(part, models, client)
    recording = uuid.uuid4()
    body = models.StartRecordingBody(recording_id=recording)
    part("api.recording.start_recording").sync(client=client, body=body)
    done = part("api.desktop.act").sync(
        client=client,
        body=models.LeftClickAction(
            action="left_click", coordinate=[600, 300], observe=models.Observe()
        ),
    )
    assert isinstance(done, models.ActionResult), done
    assert done.point == [600, 300]
    picture = part("api.desktop.take_screenshot").sync_detailed(
        client=client, format_=models.ImageFormat.PNG
    )
    assert (picture.status_code, picture.content[:4]) == (200, b"\x89PNG")
    refused = part("api.files.resolve_path").sync(client=client, path="relative")
    assert isinstance(refused, models.Refusal), refused
    body = models.StopRecordingBody(recording_id=recording)
    part("api.recording.stop_recording").sync(client=client, body=body)
    found = part("api.recording.read_recording").sync(recording, client=client)
    assert isinstance(found, models.Recording), found
    assert [step.action for step in found.steps] == ["left_click"]
    video = part("api.recording.read_recording_video").sync_detailed(recording, client=client)
    assert video.content[4:8] == b"ftyp"


def _run_a_process(part: Any, models: Any, client: Any) -> None:
    body = models.StartProcessBody(command="echo hello")
    started = part("api.processes.start_process").sync(client=client, body=body)
    assert isinstance(started, models.StartedProcess), started
    output = part("api.processes.read_process_output").sync(started.id, client=client, wait=True)
    assert isinstance(output, models.ProcessOutput), output
    assert (output.output, output.exit_code) == ("hello\n", 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
