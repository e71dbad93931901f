"""Removal of what people do not see from texts that an agent is given. Pure.

A comment of HTML, or a character without width, could hold instructions that a reviewer of the file
never saw; controls of the writing direction show text in another order than a model reads it.
"""

import re

_INVISIBLE = (
    # Soft hyphen, combining grapheme joiner, Arabic letter mark.
    *("\u00ad", "\u034f", "\u061c"),
    # Fillers of Hangul, inherent vowels of Khmer, separators of Mongolian.
    *("\u115f-\u1160", "\u17b4-\u17b5", "\u180b-\u180f", "\u3164", "\uffa0"),
    # Zero-width space, joiner (the non-joiner stays: some languages need it), and marks.
    *("\u200b", "\u200d-\u200f"),
    # Bidirectional embeddings and isolates, word joiner and invisible operators.
    *("\u202a-\u202e", "\u2060-\u206f"),
    # Variation selectors, byte order mark, interlinear annotation, tags.
    *("\ufe00-\ufe0f", "\ufeff", "\ufff9-\ufffb", "\U000e0000-\U000e0fff"),
)
_STRIPPED = re.compile(f"[{''.join(_INVISIBLE)}]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINE_END = re.compile(r"\r\n?")
# Other control characters than tab and line feed.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def sanitized(text: str) -> str:
    """Return a text without what people do not see, trimmed."""
    # Invisible characters first: they could divide the marks of a comment.
    text = _STRIPPED.sub("", _LINE_END.sub("\n", text))
    while (shorter := _COMMENT.sub("", text)) != text:
        # What is left may form another comment.
        text = shorter
    return _CONTROL.sub("", text).strip()
