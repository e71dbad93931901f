"""A list of runs in memory."""

from dataclasses import dataclass, field

from deskhand.tools.conversation.views import ChatView, Page
from deskhand.tools.run_list.run_filter import RunFilter


@dataclass
class FakeRuns:
    """Runs by title; keeps what it was asked."""

    runs: list[ChatView]
    asked: list[tuple[RunFilter, str | None]] = field(default_factory=list)

    async def page(self, wanted: RunFilter, limit: int, cursor: str | None) -> Page:
        self.asked.append((wanted, cursor))
        found = [
            run
            for run in self.runs
            if all(word in run.title for word in wanted.words)
            and wanted.outcome in ("", run.outcome)
        ]
        begin = 0 if cursor is None else [run.id for run in found].index(cursor) + 1
        shown = found[begin : begin + limit]
        more = begin + limit < len(found)
        return Page(tuple(shown), shown[-1].id if more else None)
