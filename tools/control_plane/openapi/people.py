"""Answers about people and the runs that are shared with them."""

from deskhand.vncbridge.openapi.schemas import NUMBER, TEXT, array, described, nullable, record

_PERSON = {
    "id": TEXT,
    "name": TEXT,
    "role": described(TEXT, "`owner`, `member` or `watcher`."),
    "created_at": NUMBER,
    "created_by": TEXT,
    "signed_in_at": nullable(NUMBER),
    "identity": nullable(TEXT),
}
_LINK = {"url": TEXT, "expires_at": NUMBER}
PERSON = record("Person", _PERSON)
PEOPLE = record("People", {"people": array(PERSON)})
NEW_PERSON = record("NewPersonLink", {**_PERSON, **_LINK})
SIGN_IN_LINK = record("SignInLink", _LINK)
OWN_PERSON = record(
    "OwnPerson", {"id": nullable(TEXT), "name": TEXT, "role": TEXT, "scopes": array(TEXT)}
)
_MEMBER = record("TeamMember", {"id": TEXT, "name": TEXT, "role": TEXT})
SHARED_RUN = record("SharedRun", {"chat_id": TEXT, "people": array(TEXT), "team": array(_MEMBER)})
