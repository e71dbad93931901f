from deskhand.desktop.computer.progress import NO_PROGRESS, ActionProgress


def test_requests_without_a_call_have_no_progress_to_record() -> None:
    progress: ActionProgress = NO_PROGRESS
    assert progress.began() is None  # type: ignore[func-returns-value]
    assert progress.ended(None) is None  # type: ignore[arg-type,func-returns-value]
