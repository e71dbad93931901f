"""The error of a document."""


class BadDocument(Exception):
    """A document is not as it must be."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        """``line`` counts from 1; ``None`` if the problem has no place."""
        super().__init__(problem, line)
        self.problem = problem
        self.line = line
