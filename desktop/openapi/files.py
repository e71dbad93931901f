"""Answers about files."""

from deskhand.vncbridge.openapi.schemas import (
    COUNT,
    FLAG,
    TEXT,
    array,
    described,
    nullable,
    record,
)

LINES = record(
    "FileLines",
    {
        "success": FLAG,
        "file_size": COUNT,
        "total_lines": COUNT,
        "lines_read": COUNT,
        "content": TEXT,
    },
    {
        "sha256": TEXT,
        "next_line": COUNT,
        "note": TEXT,
        "error": described(TEXT, "Reason for which there are no lines."),
    },
)
_ENTRY = record("DirectoryEntry", {"name": TEXT, "absolute_path_string": TEXT, "is_dir": FLAG})
DIRECTORY = record(
    "Directory",
    {"absolute_path": array(TEXT), "absolute_path_string": TEXT, "contents": array(_ENTRY)},
)
RESOLVED_PATH = record("ResolvedPath", {"resolved_path": TEXT})
_MATCH = record("Match", {"path": TEXT}, {"line": COUNT, "column": COUNT, "text": TEXT})
MATCHES = record(
    "Matches",
    {
        "matches": array(_MATCH),
        "count": COUNT,
        "offset": COUNT,
        "has_more": FLAG,
        "timed_out": FLAG,
        "engine": TEXT,
    },
    {"next_offset": COUNT},
)
WRITTEN_FILE = record("WrittenFile", {"message": TEXT, "bytes": COUNT, "sha256": TEXT})
EDITED_FILES = record(
    "EditedFiles",
    {"message": TEXT},
    {"files": array(record("EditedFile", {"path": TEXT}, {"diff": TEXT}))},
)
ADDED_DOWNLOAD = record("AddedDownload", {"path": TEXT, "name": TEXT, "bytes": COUNT})
FILE_STATUS = record("FileStatus", {"path": TEXT, "kind": TEXT, "bytes": COUNT})
APPENDED_FILE = record("AppendedFile", {"message": TEXT, "bytes": COUNT})
_CONTEXT_PART = record(
    "ContextPart",
    {"type": {"type": "string", "enum": ["context-file", "skill"]}},
    {
        "path": TEXT,
        "content": TEXT,
        "truncated": FLAG,
        "name": TEXT,
        "description": TEXT,
        "dir": TEXT,
        "meta_file": TEXT,
    },
)
CONTEXT = record(
    "Context",
    {
        "parts": array(_CONTEXT_PART),
        "working_dir": TEXT,
        "home": TEXT,
        "lasting_dirs": described(
            nullable(array(TEXT)),
            "Directories of the agent whose files outlive the desktop; null if all may.",
        ),
        "operating_system": TEXT,
    },
)
