"""Routes of people: the list, invitations, roles, and the runs that are shared with them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from deskhand.tools.store.ownership import EVERYONE
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.people import PersonRole
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.auth.scopes import ADMIN
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .people import LONGEST_NAME, People, RegisteredPerson

Json = dict[str, Any]


class NewPerson(BaseModel):
    """A person who is added."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    role: PersonRole = "member"


class RoleChange(BaseModel):
    """Another role for a person."""

    model_config = ConfigDict(extra="forbid")

    role: PersonRole


def router(people: People, credentials: Credentials, base_url: Callable[[], str]) -> APIRouter:
    """Return the routes under ``/api/v0/people``; only owners change what is there."""
    routes = LazyRouter(prefix="/api/v0/people", tags=["people"])

    async def link(person: RegisteredPerson, request: Request) -> Json:
        code, ends = await people.invite(person.id, _asker(request).name)
        # Browsers do not send the fragment, so the code reaches no server log.
        return {"url": f"{base_url()}/login#code={code}", "expires_at": ends}

    @routes.get("")
    async def listing() -> Json:
        """List the people with their roles."""
        return {"people": [asdict(one) for one in people.all]}

    @routes.get("/me")
    async def me(request: Request) -> Json:
        """Show who has signed in; an owner without a name has no id.

        A share link or token has no role, and `scopes`, which are empty for people.
        """
        asker = _asker(request)
        if asker.person:
            person = people.get(asker.person)
            return {"id": person.id, "name": person.name, "role": person.role, "scopes": []}
        if ADMIN in asker.scopes:
            return {"id": None, "name": asker.name, "role": "owner", "scopes": []}
        return {"id": None, "name": asker.name, "role": "", "scopes": list(asker.scopes)}

    @routes.post("", status_code=201)
    async def add(wanted: NewPerson, request: Request) -> Json:
        """Add a person, and make a link that signs the person in once."""
        person = await people.add(wanted.name, wanted.role, _asker(request).name)
        return {**asdict(person), **await link(person, request)}

    @routes.post("/{person_id}/links", status_code=201)
    async def invite(person_id: str, request: Request) -> Json:
        """Make another link that signs a person in once."""
        return await link(people.get(person_id), request)

    @routes.patch("/{person_id}")
    async def change(person_id: str, wanted: RoleChange) -> Json:
        """Give a person another role, from the next request on."""
        person = await people.set_role(person_id, wanted.role)
        await credentials.end_streams(person_id)
        return asdict(person)

    @routes.delete("/{person_id}", status_code=204)
    async def remove(person_id: str) -> Response:
        """Remove a person with all sessions; the runs stay."""
        await people.remove(person_id)
        await credentials.end_person(person_id)
        return Response(status_code=204)

    return routes


def shares_router(people: People, credentials: Credentials) -> APIRouter:
    """Return the routes of the people with whom a run is shared; its owner reaches them."""
    routes = LazyRouter(prefix="/api/v0/runs/{chat_id}/people", tags=["people"])

    async def listed(chat_id: str) -> Json:
        owner = await people.owner_name(chat_id)
        # Owners see all runs.
        team = [asdict(one) for one in people.all if one.role != "owner" and one.name != owner]
        return {
            "chat_id": chat_id,
            "people": list(await people.shared_with(chat_id)),
            "team": [{name: one[name] for name in ("id", "name", "role")} for one in team],
        }

    @routes.get("")
    async def shared(chat_id: str, request: Request) -> Json:
        """List the ids of the people with whom a run is shared; `*` stands for everyone.

        `team` are the people with whom it can be shared.
        """
        _check_person(request)
        return await listed(chat_id)

    @routes.put("/{person_id}")
    async def share(chat_id: str, person_id: str, request: Request) -> Json:
        """Share a run with a person, or with everyone (`*`).

        Members then see and stop it, watchers see it, with its desktop and its conversation.
        """
        _check_person(request)
        await people.share(chat_id, person_id, _asker(request).name)
        return await listed(chat_id)

    @routes.delete("/{person_id}")
    async def unshare(chat_id: str, person_id: str, request: Request) -> Json:
        """End the share of a run, with the views that it permitted."""
        _check_person(request)
        await people.unshare(chat_id, person_id)
        for one in people.all if person_id == EVERYONE else (people.get(person_id),):
            await credentials.end_streams(one.id)
        return await listed(chat_id)

    return routes


def _asker(request: Request) -> Principal:
    principal: Principal = request.scope["state"]["principal"]
    return principal


def _check_person(request: Request) -> None:
    # The token of a chat is a program's, for which its run is not to be shared on.
    asker = _asker(request)
    if not asker.person and ADMIN not in asker.scopes:
        raise HTTPException(403, {"message": "Only people share runs with people."})
