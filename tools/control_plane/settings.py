"""Settings of a control plane: from flags, else environment, else ``deskhand.toml``, else defaults.

:func:`load` does no I/O. All sources are checked by the same rules, and an error names its source.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from deskhand.desktop.network.egress import EgressPolicy, parse_egress, ports_of
from deskhand.desktop.network.errors import InvalidEgress
from deskhand.desktop.settings import CPU_WEIGHTS, SANDBOX_MODES, dialects
from deskhand.desktop.uid_base import DEFAULT_UID_BASE, uid_base_problem
from deskhand.tools.agents.providers.provider_table import effort_problem
from deskhand.tools.cluster import setting_rules
from deskhand.tools.conversation.restrictions import MODES
from deskhand.tools.oidc.claims import parse_roles

PREFIX = "DESKHAND_"
_KINDS = {bool: "true or false", int: "a whole number", str: "a text"}
_BUCKET = re.compile(r"s3://[^/\s]+(/\S*)?")


HIDDEN = "(hidden)"


class BadSetting(Exception):
    """A setting has a name or a value that is not understood."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


DECODER_SECONDS = 10
RETENTION = (
    *("keep_recording_days", "keep_recordings_gb", "keep_step_pictures_mb"),
    *("keep_attachments", "keep_archived_days"),
)
"""Settings of the limits on stored files and archived chats."""
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")
SHORTEST_SECRET = 16
_ISSUER = re.compile(
    r"https://[^\s/?#@]+(/[^\s?#]*)?|http://(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?(/[^\s?#]*)?"
)
_WEBHOOK = re.compile(r"https?://[^\s/?#@]+([/?]\S*)?")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a control plane."""

    data_dir: Path
    """Folder of chats, files and tokens."""
    listen: str = "127.0.0.1:7777"
    """Address on which the control plane listens: ``HOST:PORT`` or ``unix:PATH``."""
    model: str | None = None
    """Model of new agents; by default the provider's whose key is set, else the scripted one."""
    allowed_hosts: tuple[str, ...] = ()
    """Names, besides loopback, that requests may have in their ``Host`` header."""
    allowed_origins: tuple[str, ...] = ()
    """Origins, besides its own, that may call the API and show the pages in frames."""
    most_desktops: int = 8
    """Number of desktops at once on this machine."""
    desktop_processes: int = 0
    """Processes and threads of one desktop, if root starts it; 0 for the default of a desktop, as
    for the next three."""
    desktop_memory_mib: int = 0
    desktop_tmp_mib: int = 0
    desktop_cpu_weight: int = 0
    """Share of the processors beside other desktops, 1 to 10,000."""
    uid_base: int = DEFAULT_UID_BASE
    """Base of the ids of the users that desktops have of their own, if root starts them."""
    workdirs: str = ""
    """Folder of the chats' working directories; by default beside those of the desktops."""
    database: str = field(default="", repr=False)
    """Database on a server: ``postgresql://USER@HOST/NAME``; by default a file."""
    internal_listen: str = ""
    """``HOST:PORT`` at which other control planes of the database reach this one."""
    certificates: str = ""
    """Directory with the certificate of this control plane or node, of ``deskhand ca``."""
    cluster: str = ""
    """``HOST:PORT`` of the head of Ray, which reserves the places of nodes: desktops run there."""
    places: int = 8
    """Number of desktops at once on this node."""
    ray_port: int = 7460
    """First of the 50 ports of a node's Ray processes; 0 for any ports."""
    public_listen: str = ""
    """``HOST:PORT`` at which viewers reach this node; empty: not at all."""
    node_names: tuple[str, ...] = ()
    """Host names of nodes that the pages may connect to, such as ``*.desk.example.com``."""
    store: str = ""
    """Location of stored files: ``s3://BUCKET/PREFIX``; by default the data directory."""
    browser: str = ""
    """Name or path of the browser of desktops; by default the first one that is installed."""
    browser_sandbox: str = "auto"
    """``auto``, ``required`` or ``off``: what happens where its sandbox cannot work."""
    egress: str = ""
    """``open``, ``internet``, ``list`` or ``none``: what desktops may reach over the network. By
    default ``internet`` as root, where it can be enforced, else ``open``."""
    egress_allow: tuple[str, ...] = ()
    """Names for the mode ``list``, such as ``docs.example.com`` or ``*.example.org``."""
    egress_grants: tuple[str, ...] = ()
    """``HOST:PORT`` of this machine that desktops may reach in every mode."""
    approval: str = ""
    """``auto``, ``risky`` or ``every``: what a person must approve in chats that name nothing. By
    default ``risky`` with a real model, ``auto`` with a scripted one."""
    question_seconds: int = 24 * 3600
    """Time in which an approval must be answered; without an answer it is refused."""
    question_place_seconds: int = 15 * 60
    """Time after which an agent that waits for an answer gives the place of its desktop back."""
    notify_url: str = ""
    """Address to which the questions of agents are sent; empty: nowhere."""
    notify_secret: str = field(default="", repr=False)
    """Secret with which these events are signed."""
    notify_private: bool = False
    """True if the address may belong to a private network, or to this machine."""
    browser_tools: bool = True
    """Offer agents with a screen the tools of the browser toolset."""
    trust_mcp_servers: bool = False
    """Start the servers of the agents' ``.mcp.json`` without a person's approval."""
    speak: tuple[str, ...] = ()
    """Dialects of new desktops: ``osworld``, ``osworld:lan``, ``cdp``; their clients may
    run code as the agent's user."""
    run_as: str = "deskhand"
    """User that the control plane of root becomes before it serves; empty: it stays root."""
    launcher: str = ""
    """Socket of a launcher that runs as a unit of its own, for a control plane without root."""
    keep_desktops: bool = False
    """True if the desktops keep running for the next control plane when this one ends."""
    decoder_seconds: int = DECODER_SECONDS
    """CPU time for decoding a picture, or a clip of a video."""
    supervisor_seconds: int = 15
    """Interval of looking for chats without a task; 0 turns the supervisor off."""
    effort: str = ""
    """How much a model works on a reply, as ``low``; by default what the model does."""
    model_requests: int = 16
    """Requests under way at once for each account of a model provider."""
    keep_recording_days: int = 90
    """Age in days from which recordings are removed."""
    keep_recordings_gb: int = 20
    """Size of all recordings, in units of 10^9 bytes, from which the oldest are removed."""
    keep_step_pictures_mb: int = 300
    """Size of the pictures of one chat's steps, in units of 10^6 bytes."""
    keep_attachments: int = 20
    """Number of attachments that a chat lists."""
    keep_archived_days: int = 30
    """Days after which an archived chat is deleted with its files."""
    log_level: str = LOG_LEVELS[2]
    """``debug``, ``info``, ``warning`` or ``error``: the least level on the standard error."""
    log_format: str = LOG_FORMATS[0]
    """``text`` or ``json``: the form of the lines there."""
    public_url: str = ""
    """Address by which people open the pages, as ``https://example.com/desk``."""
    tls_cert: str = ""
    tls_key: str = ""
    """Files (PEM) of the certificate, with its chain, and of its key; empty: no TLS."""
    trusted_proxy: tuple[str, ...] = ()
    """Addresses of proxies whose ``X-Forwarded-`` headers count; ``unix`` for a unix socket."""
    oidc_issuer: str = ""
    """OpenID Connect provider, as ``https://id.example.com``, by which people sign in."""
    oidc_client_id: str = ""
    oidc_client_secret: str = field(default="", repr=False)
    """This service at the provider."""
    oidc_roles: tuple[str, ...] = ()
    """Roles of the provider's groups: ``GROUP=owner|member|watcher``; ``*`` for everyone."""
    oidc_groups: str = "groups"
    """Claim that has the groups of a person."""
    insecure: bool = False
    """True to listen for other machines without TLS."""
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Source of each setting that is not a default: ``file``, ``environment`` or ``flag``."""

    @property
    def database_place(self) -> Path | str:
        """Path of the database, or the URL of one on a server."""
        return self.database or self.data_dir / "deskhand.db"

    @property
    def is_outlived(self) -> bool:
        """True if desktops keep running when the control plane ends."""
        return self.keep_desktops or bool(self.cluster)


def load(
    flags: Mapping[str, Any], environment: Mapping[str, str], file_text: str, default_data_dir: Path
) -> Settings:
    """Return the settings; ``file_text`` is the content of ``deskhand.toml``, empty if none.

    Raises:
        BadSetting: If a name or value is not valid; the error names its source.
    """
    known = {field.name: field.default for field in fields(Settings) if field.name != "sources"}
    given = {
        "file": _from_file(file_text, known),
        "environment": _from_environment(environment, known),
        "flag": {name: value for name, value in flags.items() if value is not None},
    }
    values: dict[str, Any] = {"data_dir": default_data_dir}
    sources: dict[str, str] = {}
    # Later sources overwrite earlier ones, so their order is the precedence.
    for source, found in given.items():
        values |= found
        sources |= dict.fromkeys(found, source)
    # Desktop services get paths below the data directory, and their current directory is "/".
    values["data_dir"] = Path(values["data_dir"]).expanduser().absolute()
    store = values.get("store", "")
    if store and not _BUCKET.fullmatch(store):
        raise BadSetting("store", f"{store!r} is no bucket; give s3://BUCKET or s3://BUCKET/PREFIX")
    sandbox = values.get("browser_sandbox", SANDBOX_MODES[0])
    if sandbox not in SANDBOX_MODES:
        raise BadSetting("browser_sandbox", f"{sandbox!r} is none of {', '.join(SANDBOX_MODES)}")
    _check_approval(values)
    _check_models(values.get("effort", ""), values.get("model_requests", 1))
    _check_notify(values.get("notify_url", ""), values.get("notify_secret", ""))
    weight = values.get("desktop_cpu_weight", 0)
    if weight and weight not in CPU_WEIGHTS:
        raise BadSetting("desktop_cpu_weight", f"{weight} is not a weight of 1 to 10000")
    if values.get("decoder_seconds", DECODER_SECONDS) < 1:
        raise BadSetting("decoder_seconds", "give 1 or more")
    _check_retention(values)
    problem = uid_base_problem(values.get("uid_base", DEFAULT_UID_BASE))
    if problem:
        raise BadSetting("uid_base", problem)
    _check_logs(values.get("log_level", LOG_LEVELS[2]), values.get("log_format", LOG_FORMATS[0]))
    settings = Settings(**values, sources=sources)
    _check_oidc(settings)
    _check_cluster(settings)
    try:
        dialects(settings.speak)
    except ValueError as error:
        raise BadSetting("speak", str(error)) from error
    try:
        egress_policy(settings, root=True)
    except InvalidEgress as error:
        raise BadSetting("egress", str(error).removeprefix("egress: ")) from error
    return settings


def check_plane(settings: Settings) -> None:
    """Check what a control plane needs, beside what every program does.

    Raises:
        BadSetting: If something is missing.
    """
    problem = setting_rules.plane_problem(_cluster_values(settings))
    if problem is not None:
        raise BadSetting(*problem)


def _check_cluster(settings: Settings) -> None:
    if settings.database:
        in_environment = settings.sources["database"] == "environment"
        reason = setting_rules.database_problem(settings.database, in_environment=in_environment)
        if reason is not None:
            raise BadSetting("database", reason)
    problem = setting_rules.cluster_problem(_cluster_values(settings))
    if problem is not None:
        raise BadSetting(*problem)


def _cluster_values(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in setting_rules.NAMES}


def _check_retention(values: Mapping[str, Any]) -> None:
    for name in RETENTION:
        if values.get(name, 1) < 1:
            raise BadSetting(name, "give 1 or more; what is pinned stays in any case")


def _check_models(effort: str, requests: int) -> None:
    problem = effort_problem(effort) if effort else None
    if problem is not None:
        raise BadSetting("effort", problem)
    if requests < 1:
        raise BadSetting("model_requests", "give 1 or more")


def _check_logs(level: str, form: str) -> None:
    for name, value, known in (("level", level, LOG_LEVELS), ("format", form, LOG_FORMATS)):
        if value not in known:
            raise BadSetting(f"log_{name}", f"{value!r} is none of {', '.join(known)}")


def _check_approval(values: Mapping[str, Any]) -> None:
    mode = values.get("approval", "")
    if mode and mode not in MODES:
        raise BadSetting("approval", f"{mode!r} is none of {', '.join(MODES)}")
    for name in ("question_seconds", "question_place_seconds"):
        if values.get(name, 1) < 1:
            raise BadSetting(name, "give 1 or more")


def _check_notify(url: str, secret: str) -> None:
    if url and not _WEBHOOK.fullmatch(url):
        raise BadSetting("notify_url", "give an address such as https://example.com/hook")
    if url and len(secret) < SHORTEST_SECRET:
        raise BadSetting("notify_secret", f"give {SHORTEST_SECRET} characters or more")


def _check_oidc(settings: Settings) -> None:
    if not settings.oidc_issuer:
        return
    if not _ISSUER.fullmatch(settings.oidc_issuer):
        raise BadSetting("oidc_issuer", "give an address such as https://id.example.com")
    if not settings.oidc_client_id or not settings.oidc_roles:
        raise BadSetting("oidc_issuer", "oidc_client_id and oidc_roles are needed, too")
    try:
        parse_roles(settings.oidc_roles)
    except ValueError as error:
        raise BadSetting("oidc_roles", str(error)) from error


def egress_policy(settings: Settings, *, root: bool) -> EgressPolicy:
    """Return the egress of desktops; ``root`` if they get users and networks of their own.

    Raises:
        InvalidEgress: If a name or a grant is wrong, or a grant leads to the control plane.
    """
    mode = settings.egress or ("internet" if root else "open")
    allow, grants = settings.egress_allow, settings.egress_grants
    base = parse_egress(mode, allow, grants, required=bool(settings.egress) or not root)
    listeners = settings.listen, settings.internal_listen, settings.public_listen
    return EgressPolicy(base, ports_of(listeners)).check()


def _from_environment(environment: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    names = {name: PREFIX + name.upper() for name in known}
    return {
        name: _read(environment[variable], known[name], variable)
        for name, variable in names.items()
        if variable in environment
    }


def _from_file(text: str, known: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting("deskhand.toml", str(error)) from error
    for name in found:
        if name not in known:
            raise BadSetting("deskhand.toml", f"{name!r} is none of {', '.join(sorted(known))}")
    return {name: _checked(name, value, known[name]) for name, value in found.items()}


def _checked(name: str, value: Any, default: Any) -> Any:
    """Return a value of the file in the type of its setting."""
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise BadSetting("deskhand.toml", f"{name} must be a list of texts, not {value!r}")
    # ``bool`` is a subclass of ``int``: types are compared exactly.
    kind = type(default) if isinstance(default, int) else str
    if type(value) is not kind:
        raise BadSetting("deskhand.toml", f"{name} must be {_KINDS[kind]}, not {value!r}")
    return value


def _read(text: str, default: Any, source: str) -> Any:
    # ``bool`` precedes ``int``, of which it is a subclass. ``data_dir`` has no default: its
    # ``MISSING`` is of no type below, so that the value stays a text.
    if isinstance(default, bool):
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise BadSetting(source, f"{text!r} is not a switch; give 1 or 0")
        return text.lower() in ("1", "true", "yes")
    if isinstance(default, int):
        # ``int`` would also accept signs, underscores and digits of other scripts.
        if not (text.isascii() and text.isdigit()):
            raise BadSetting(source, f"{text!r} is not a whole number")
        return int(text)
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


@dataclass(frozen=True)
class SettingInForce:
    """A setting with its value as a text, and where the value comes from."""

    name: str
    value: str
    source: str
    """``default``, ``file``, ``environment`` or ``flag``."""


def settings_in_force(settings: Settings) -> list[SettingInForce]:
    """Return all settings by name; the value of a secret one is hidden."""
    found = []
    for one in fields(settings):
        if one.name == "sources":
            continue
        value = getattr(settings, one.name)
        text = ", ".join(value) if isinstance(value, tuple) else str("" if value is None else value)
        shown = text if one.repr or not text else HIDDEN
        found.append(SettingInForce(one.name, shown, settings.sources.get(one.name, "default")))
    return sorted(found, key=lambda setting: setting.name)
