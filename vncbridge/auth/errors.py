"""Errors of request bodies that access control does not take."""

from fastapi import HTTPException


class BodyTooLarge(HTTPException):
    """A body without a declared length grew over its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, {"message": "Request body is too large.", "detail": too_large(limit)})


class SilentBody(HTTPException):
    """A body without a credential did not come."""

    def __init__(self, seconds: float) -> None:
        body = {
            "message": "Request body did not arrive.",
            "detail": f"without a credential at most {seconds:g} s may pass between two parts",
        }
        super().__init__(408, body, {"Connection": "close"})


def too_large(limit: int) -> str:
    """Return the sentence that names a limit of bytes."""
    kib = limit // 1024
    return (
        f"at most {limit} bytes ({f'{kib // 1024} MiB' if kib >= 1024 else f'{kib} KiB'}) are taken"
    )
