"""Answers about playbooks."""

from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COUNT,
    TEXT,
    array,
    described,
    mapping,
    nullable,
    record,
)

_PARAMETER = record("PlaybookParameter", {"default": nullable(TEXT), "description": TEXT})
_FIELDS = {
    "description": TEXT,
    "steps": COUNT,
    "parameters": mapping(_PARAMETER),
    "secrets": array(TEXT),
    "error": described(TEXT, "Why it cannot be replayed, in place of the fields above."),
}
PLAYBOOKS = record("Playbooks", {"playbooks": array(record("Playbook", {"name": TEXT}, _FIELDS))})
PLAYBOOK = record("WholePlaybook", {"name": TEXT, "yaml": TEXT}, _FIELDS)
PLAYBOOK_RUN = described(ANY_OBJECT, "`chat_id` and `run_url` of the run.")
