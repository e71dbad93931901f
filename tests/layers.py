"""Which folder may import which, and which outside library; ARCHITECTURE.md draws the same.

Beside what the table allows, every folder may import its own package's vocabulary (the root of the
package and all ``errors`` modules). ``COMPOSERS`` may import everything below them.
"""

BELOW = {
    "tools": {"desktop", "recording", "vncbridge"},
    "desktop": {"recording", "vncbridge"},
    "recording": set[str](),
    "vncbridge": set[str](),
}
"""The layers: a package may import itself and these."""

COMPOSERS = {
    *("desktop/service", "tools/control_plane/service", "tools/control_plane/service/reports"),
}

_TABLE = """
desktop/__main__.py: desktop/isolation desktop/launch
desktop/accessibility: desktop/http_errors.py desktop/input desktop/isolation desktop/lease
  vncbridge/http
desktop/actions: desktop/capture desktop/input desktop/screenshots vncbridge/openapi
desktop/agent_helper: desktop/agent_helper/wire desktop/applications desktop/files
  desktop/files/tree desktop/git desktop/processes
desktop/agent_helper/wire: desktop/files desktop/files/editing
desktop/agent_helper/worker: desktop/agent_helper desktop/agent_helper/wire desktop/events
  desktop/files desktop/files/tree desktop/git desktop/processes desktop/x_filter
desktop/agent_socket: desktop/context desktop/isolation desktop/tool_calls
desktop/applications: desktop/actions desktop/browser desktop/http_errors.py desktop/lease
  desktop/processes desktop/programs desktop/tool_calls vncbridge/http
desktop/attach: desktop/actions desktop/capture desktop/input
desktop/browser: desktop/isolation
desktop/capture: desktop/x11
desktop/client: desktop/client/http1 desktop/screenshots desktop/server_trust
desktop/client/http1: desktop desktop/server_trust vncbridge/server
desktop/clipboard: desktop/actions desktop/http_errors.py desktop/lease desktop/tool_calls
  desktop/x11 vncbridge/http
desktop/computer: desktop/accessibility desktop/actions desktop/capture desktop/freeze
  desktop/http_errors.py desktop/input desktop/lease desktop/screenshots desktop/tool_calls
  desktop/windows vncbridge vncbridge/http
desktop/context: desktop/files vncbridge/http
desktop/dialects/cdp: desktop/actions desktop/browser desktop/own_api vncbridge/http vncbridge/rfb
  vncbridge/websocket
desktop/dialects/osworld: desktop/isolation desktop/network desktop/own_api vncbridge vncbridge/http
desktop/display: desktop/agent_helper desktop/browser desktop/capture desktop/clipboard
  desktop/input desktop/programs desktop/windows desktop/x11 desktop/x_filter vncbridge/http
desktop/events: vncbridge/http
desktop/files: desktop/files/editing desktop/tool_calls vncbridge/http
desktop/files/tree: desktop/files vncbridge/http
desktop/fork_server: desktop/__main__.py desktop/agent_helper/worker desktop/launch
  desktop/launch/inside desktop/launch_port desktop/service
desktop/git: desktop/tool_calls vncbridge/http
desktop/input: desktop/x11
desktop/launch: desktop/freeze desktop/isolation desktop/profiles desktop/programs desktop/x11
desktop/launch/inside: desktop/agent_helper/worker desktop/freeze desktop/isolation desktop/launch
  desktop/programs
desktop/launch_port: desktop/client desktop/context desktop/isolation desktop/launch desktop/network
desktop/lease: desktop/actions desktop/events desktop/freeze vncbridge vncbridge/http
desktop/mcp: desktop/actions vncbridge vncbridge/http
desktop/mcp/calls: desktop/mcp desktop/own_api desktop/screenshots
desktop/mcp_client: desktop/files desktop/http_errors.py desktop/processes desktop/programs
  vncbridge/http
desktop/mcp_client/remote: desktop/mcp_client
desktop/metrics: desktop/actions vncbridge/http
desktop/network: desktop/isolation
desktop/openapi: desktop/processes recording vncbridge/auth vncbridge/openapi
desktop/own_api: desktop/tool_calls recording vncbridge/auth
desktop/pages: desktop/actions desktop/browser desktop/computer desktop/files desktop/http_errors.py
  desktop/network desktop/own_api desktop/pages/content desktop/screenshots desktop/tool_calls
  vncbridge vncbridge/http vncbridge/openapi
desktop/pages/entry: desktop/computer desktop/pages
desktop/processes: desktop/http_errors.py desktop/programs desktop/tool_calls vncbridge
  vncbridge/http vncbridge/openapi
desktop/recordings: desktop/accessibility desktop/actions desktop/capture desktop/lease
  desktop/screenshots recording recording/library recording/pipeline vncbridge/http
desktop/remote.py: desktop/client desktop/screenshots desktop/server_trust
desktop/remote_sync.py: desktop/client desktop/screenshots desktop/server_trust
desktop/screenshots: desktop/capture vncbridge/http
desktop/secrets: vncbridge/http
desktop/service/dialects: desktop/dialects/cdp desktop/dialects/osworld
  desktop/isolation desktop/own_api desktop/recordings desktop/service
desktop/targets: desktop/accessibility desktop/actions desktop/capture desktop/http_errors.py
  desktop/lease desktop/windows vncbridge/http
desktop/tool_calls: vncbridge/http
desktop/uploads: desktop/files desktop/http_errors.py desktop/lease
  desktop/tool_calls vncbridge/http
desktop/waiting: desktop/actions desktop/browser desktop/capture desktop/computer desktop/events
  desktop/http_errors.py desktop/processes desktop/screenshots desktop/tool_calls vncbridge
  vncbridge/http vncbridge/openapi
desktop/wallpaper: desktop/files desktop/http_errors.py desktop/lease desktop/tool_calls
  vncbridge/http
desktop/windows: desktop/actions desktop/http_errors.py desktop/lease desktop/tool_calls desktop/x11
  vncbridge/http
desktop/x_filter: desktop/x11
recording/library: recording/timing recording/video
recording/pipeline: recording/disk recording/library recording/timing recording/video
recording/video: recording/timing
tools: tools/command_line
tools/agents/agent_context: desktop desktop/context tools/kit/support
tools/agents/approvals: desktop tools/agents/questions tools/conversation tools/kit
  tools/kit/support tools/secrets tools/store
tools/agents/chat_recordings: tools/agents/desktops tools/conversation tools/kit/support
  tools/secrets tools/store
tools/agents/chat_repository: desktop/agent_socket tools/agents/costs tools/agents/desktops
  tools/agents/loop tools/agents/questions tools/conversation tools/kit/support tools/secrets
  tools/store tools/store/backends tools/store/faults tools/store/rows
tools/agents/chats: desktop/network tools/agents/approvals
  tools/agents/chat_recordings tools/agents/chat_repository tools/agents/checkpoints
  tools/agents/costs tools/agents/desktops tools/agents/driving tools/agents/loop
  tools/agents/providers tools/agents/questions tools/conversation tools/kit tools/kit/support
  tools/agents/agent_context tools/agents/workdirs tools/run_activities tools/secrets tools/store
  tools/store/backends tools/store/faults tools/store/rows
tools/agents/checkpoints: tools/agents/providers tools/conversation tools/kit/support tools/store
tools/agents/costs: tools/agents/providers
tools/agents/desktops: desktop/network tools/agents/providers tools/conversation tools/kit/support
tools/agents/driving: tools/agents/desktops tools/conversation tools/store tools/store/faults
  tools/store/rows vncbridge/server
tools/agents/foreign_pictures: tools/conversation tools/decoder tools/kit tools/store
tools/agents/loop: desktop tools/agents/checkpoints tools/agents/costs tools/agents/providers
  tools/conversation tools/kit/support tools/store/faults
tools/agents/providers: tools/conversation tools/kit/support
tools/agents/providers/accounts: tools/agents/providers tools/conversation
tools/agents/providers/anthropic: tools/agents/providers tools/agents/providers/accounts
  tools/conversation tools/kit/support
tools/agents/providers/compatible: tools/agents/providers tools/agents/providers/accounts
  tools/agents/providers/openai tools/conversation tools/kit/support
tools/agents/providers/environment: tools/agents/providers
tools/agents/providers/gemini: desktop tools/agents/providers tools/agents/providers/accounts
  tools/conversation tools/kit/support
tools/agents/providers/openai: desktop tools/agents/providers tools/agents/providers/accounts
  tools/conversation tools/kit/support
tools/agents/questions: tools/conversation tools/kit/support tools/store tools/store/tables
tools/agents/scripted: tools/agents/scripted/anthropic tools/agents/scripted/compatible
  tools/agents/scripted/gemini tools/agents/scripted/openai tools/agents/scripted/script
  vncbridge/server
tools/agents/scripted/anthropic: tools/agents/providers tools/agents/scripted/script
tools/agents/scripted/compatible: tools/agents/providers/compatible tools/agents/scripted/script
tools/agents/scripted/gemini: tools/agents/providers tools/agents/providers/gemini
  tools/agents/scripted/script
tools/agents/scripted/openai: tools/agents/providers tools/agents/scripted/script
tools/agents/scripted/script: tools/agents/checkpoints tools/kit/support
tools/agents/workdirs: tools/agents/chat_repository tools/agents/desktops tools/conversation
  tools/kit/support tools/store
tools/audit: tools/store
tools/backup: tools/store tools/store/creation
tools/client: desktop desktop/client desktop/isolation desktop/remote.py desktop/remote_sync.py
  desktop/server_trust tools/control_plane
tools/cluster: desktop/client/http1 tools/store
tools/cluster/gate: desktop desktop/client/http1 desktop/metrics desktop/network desktop/profiles
  tools/cluster tools/fleet tools/recovery tools/templates vncbridge vncbridge/http
  vncbridge/server vncbridge/websocket
tools/cluster/gate/live: desktop tools/cluster tools/cluster/gate tools/fleet vncbridge/auth
  vncbridge/server
tools/cluster/ray_node: tools/cluster
tools/cluster/placing: desktop/client/http1 tools/cluster tools/store tools/store/backends
  tools/store/rows tools/store/tables
tools/commands: desktop desktop/client desktop/isolation desktop/remote.py desktop/server_trust
  tools/backup tools/client tools/control_plane tools/control_plane/service tools/demo
  tools/remote_access tools/secrets tools/service_manager tools/store tools/store/backends vncbridge
  vncbridge/server
tools/commands/access: desktop tools/audit tools/commands tools/commands/output
tools/commands/cluster: desktop/launch_port tools/audit tools/cluster tools/cluster/gate
  tools/cluster/gate/live tools/cluster/ray_node tools/cluster/placing tools/commands
  tools/commands/output
  tools/control_plane tools/control_plane/service tools/fleet tools/remote_access
  tools/service_manager tools/store tools/store/backends tools/store/rows vncbridge/server
tools/commands/completion: desktop tools/agents/providers tools/commands tools/commands/output
  tools/control_plane
tools/commands/desktops: desktop desktop/client desktop/network desktop/remote.py tools/commands
  tools/commands/access tools/commands/output tools/commands/runs tools/forward
tools/commands/diagnosis: desktop desktop/browser desktop/isolation desktop/launch desktop/network
  recording recording/disk recording/timing recording/video tools/agents/providers
  tools/agents/providers/environment tools/commands tools/commands/output tools/control_plane
  tools/cluster tools/cluster/placing tools/decoder tools/secrets tools/store tools/store/backends
tools/commands/evaluation: tools/agents/providers tools/agents/providers/environment
  tools/agents/scripted/script tools/commands tools/control_plane tools/conversation tools/documents
  tools/evaluation tools/evaluation/form tools/evaluation/report tools/evaluation/running tools/mcp
tools/commands/models: tools/agents/providers tools/agents/providers/environment tools/commands
tools/commands/output: tools/commands
tools/commands/people: tools/commands tools/commands/output
tools/commands/playbooks: desktop tools/commands tools/commands/runs
tools/commands/runs: desktop desktop/client tools/agents/providers tools/commands
  tools/commands/access tools/commands/output tools/conversation
tools/commands/serve: desktop desktop/isolation desktop/mcp tools/client tools/commands
  tools/control_plane tools/control_plane/service tools/mcp tools/service_manager
tools/control_plane: desktop desktop/client/http1 desktop/network tools/agents/providers
  tools/cluster tools/conversation tools/kit/support tools/oidc tools/run_activities tools/store
  vncbridge vncbridge/auth vncbridge/http vncbridge/viewer
tools/control_plane/metrics: desktop/metrics tools/agents/costs tools/conversation tools/fleet
  vncbridge/http
tools/control_plane/openapi: desktop/openapi tools/agents/costs tools/conversation
  tools/run_activities vncbridge/auth vncbridge/openapi
tools/control_plane/proxy: desktop desktop/client/http1 tools/control_plane vncbridge
  vncbridge/auth vncbridge/http vncbridge/websocket
tools/control_plane/routes: desktop desktop/network desktop/profiles recording/library
  tools/agents/costs tools/audit tools/control_plane tools/control_plane/run_video
  tools/conversation tools/kit/support tools/playbooks tools/playbooks/replay
  tools/run_activities tools/secrets tools/store vncbridge/auth vncbridge/http
tools/control_plane/run_video: recording tools/control_plane tools/conversation tools/store
tools/conversation: desktop/profiles
tools/credentials: tools/control_plane tools/store tools/store/tables vncbridge/auth
tools/decoder: recording recording/video tools/recovery
tools/demo: vncbridge/server
tools/evaluation/checking: desktop desktop/client tools/evaluation
tools/evaluation/form: tools/agents/scripted/script tools/documents tools/evaluation
  tools/evaluation/osworld
tools/evaluation/osworld: tools/evaluation
tools/evaluation/report: tools/evaluation
tools/evaluation/running: desktop desktop/client tools/agents/providers tools/agents/scripted
  tools/evaluation tools/evaluation/checking tools/evaluation/form tools/mcp vncbridge/server
tools/cluster/desktops: desktop desktop/client desktop/client/http1 desktop/network
  desktop/profiles tools/cluster tools/conversation tools/fleet tools/recovery tools/store
  tools/store/rows tools/store/tables tools/templates vncbridge/auth
tools/fleet/placement: desktop desktop/client desktop/network desktop/profiles tools/conversation
  tools/fleet tools/kit/support tools/recovery tools/templates
tools/fleet: desktop desktop/agent_socket desktop/client desktop/isolation desktop/launch
  desktop/launch_port desktop/network desktop/profiles tools/launcher
  tools/recovery tools/store tools/templates
tools/forward: desktop/client vncbridge/auth vncbridge/server
tools/kit: desktop desktop/network desktop/pages tools/conversation tools/kit/support
tools/kit/support: desktop desktop/network tools/conversation
tools/launcher: desktop/isolation desktop/launch desktop/launch_port desktop/network
  desktop/profiles
tools/live_updates: desktop tools/control_plane tools/fleet vncbridge/auth vncbridge/http
  vncbridge/websocket
tools/mcp: desktop desktop/client desktop/mcp desktop/mcp/calls desktop/server_trust
  tools/control_plane tools/conversation tools/kit tools/kit/support tools/store vncbridge/auth
tools/notifications: desktop/network tools/conversation tools/store tools/store/tables
tools/oidc: tools/people tools/store tools/store/tables vncbridge/auth vncbridge/http
tools/people: tools/store tools/store/tables vncbridge/auth vncbridge/http
tools/playbooks/form: tools/documents tools/playbooks
tools/playbooks/library: tools/playbooks tools/playbooks/form
tools/playbooks/replay: desktop desktop/targets tools/agents/desktops tools/agents/providers
  tools/conversation tools/documents tools/kit tools/kit/support tools/playbooks
  tools/playbooks/form tools/playbooks/targets
tools/playbooks/saving: tools/agents/providers tools/conversation tools/kit/support tools/playbooks
  tools/playbooks/form tools/playbooks/targets
tools/playbooks/targets: desktop desktop/targets tools/playbooks
tools/pytest_plugin: desktop desktop/remote_sync.py
tools/recovery: recording/library tools/conversation tools/store tools/store/faults
tools/remote_access: tools/control_plane vncbridge/auth vncbridge/server
tools/run_activities: tools/agents/chat_repository tools/agents/workdirs tools/conversation
  tools/store
tools/run_list: tools/control_plane tools/conversation tools/store vncbridge/auth vncbridge/http
tools/run_pictures: tools/control_plane tools/control_plane/routes tools/control_plane/run_video
  tools/conversation tools/store vncbridge/http
tools/secrets: desktop desktop/secrets tools/store tools/store/tables
tools/service_manager: tools/agents/providers tools/control_plane tools/fleet tools/launcher
  tools/store
tools/store: tools/conversation tools/store/backends tools/store/faults tools/store/packs
  tools/store/tables
tools/store/backends: tools/store/creation tools/store/faults
tools/store/creation:
tools/store/faults: recording/disk
tools/store/migrations: tools/store
tools/store/packs:
tools/store/rows: tools/conversation tools/store tools/store/backends tools/store/packs
  tools/store/tables
tools/store/tables: tools/conversation
tools/templates: desktop tools/conversation tools/documents tools/kit/support tools/store
vncbridge/auth: vncbridge/http vncbridge/openapi vncbridge/server
vncbridge/rfb: vncbridge/auth vncbridge/http vncbridge/websocket
vncbridge/server: vncbridge/http
vncbridge/viewer: vncbridge/http
vncbridge/websocket: vncbridge/server
"""

LAYERS = {
    place: set(names.split())
    for place, _, names in (
        line.partition(":") for line in _TABLE.strip().replace("\n  ", " ").split("\n")
    )
}
"""Folder, or interface module, to what it may import."""

_REVISIONS = {
    f"tools/store/migrations/versions/{part}" for part in ("to_0030", "from_0036", "from_0067")
}

OWNER = {
    "alembic": {
        *("tools/store", "tools/store/backends", "tools/store/creation"),
        "tools/store/migrations",
        *(
            f"tools/store/migrations/versions/{part}"
            for part in ("to_0030", "from_0036", "from_0067")
        ),
    },
    "anthropic": {"tools/agents/providers/anthropic"},
    "authlib": {"tools/oidc"},
    "av": {"desktop/screenshots", "recording/video"},
    "cryptography": {"tools/cluster", "tools/secrets"},
    "fastapi": {"tools/control_plane", "tools/control_plane/proxy", "tools/demo"},
    "httpcore2": {"desktop/mcp_client/remote"},
    "google": {"tools/agents/providers/gemini"},
    "isal": {"desktop/screenshots"},
    "joserfc": {"tools/oidc"},
    "jeepney": {"desktop/accessibility"},
    "jwt": {"tools/cluster"},
    "mcp": {"desktop/mcp", "desktop/mcp_client", "desktop/mcp_client/remote"},
    "mcp_types": {"desktop/mcp", "desktop/mcp_client"},
    "mss": {"desktop/attach"},
    "obstore": {"tools/store"},
    "openai": {"tools/agents/providers/compatible", "tools/agents/providers/openai"},
    "PIL": {
        "desktop/agent_helper/worker",
        "desktop/screenshots",
        "recording/video",
        "tools/agents/scripted/script",
        "tools/decoder",
    },
    "ray": {"tools/cluster/placing"},
    "psutil": {
        *("desktop/metrics", "tools/cluster/gate", "tools/control_plane/metrics"),
        "tools/fleet/placement",
    },
    "pyautogui": {"desktop/attach"},
    "pyotp": {"tools/secrets"},
    "pytest": {"tools/pytest_plugin"},
    "rich": {"tools/commands/output"},
    "sqlalchemy": {
        *(
            "tools/agents/approvals",
            "tools/agents/chat_recordings",
            "tools/agents/chat_repository",
            "tools/agents/chats",
            "tools/agents/workdirs",
            "tools/agents/checkpoints",
            "tools/agents/questions",
            "tools/notifications",
            "tools/run_activities",
            "tools/run_list",
            "tools/oidc",
            "tools/people",
            "tools/audit",
            "tools/credentials",
            "tools/secrets",
            "tools/store/rows",
            "tools/cluster/placing",
        ),
        "tools/recovery",
        *("tools/store", "tools/store/backends", "tools/store/creation", "tools/store/tables"),
        *(
            f"tools/store/migrations/versions/{part}"
            for part in ("to_0030", "from_0036", "from_0067")
        ),
    },
    "starlette": {
        "tools/agents/scripted",
        *("tools/cluster/gate", "tools/cluster/gate/live"),
        "tools/control_plane",
        "tools/control_plane/proxy",
        "tools/credentials",
        "tools/evaluation/running",
    },
    "typer": {"tools", "tools/command_line"},
    "uvicorn": {"vncbridge/server"},
    "websockets": {
        *("desktop/client", "tools/control_plane", "tools/control_plane/proxy", "vncbridge/server"),
        *("tools/cluster/gate", "vncbridge/websocket"),
    },
    "xcffib": {
        *("desktop/capture", "desktop/clipboard", "desktop/input", "desktop/windows"),
        "desktop/x11",
    },
}
"""Outside library to the folders that may import it."""

WEB = {"fastapi", "starlette"}
WEB_FOLDERS = {
    *("desktop/dialects/osworld", "desktop/mcp", "desktop/mcp/calls", "desktop/service"),
    "desktop/service/dialects",
    *("tools/control_plane/routes", "tools/control_plane/service", "tools/mcp"),
    "tools/control_plane/service/reports",
    "tools/remote_access",
}
"""Beside these, all of ``vncbridge``, and every ``api`` and ``http_errors`` module, may use the web
framework."""

WORLD = {
    *("asyncio", "fcntl", "http", "multiprocessing", "os", "random", "secrets", "select", "shutil"),
    *("signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time"),
    *("urllib.request", "httpx2", "anyio", *OWNER),
}
"""Pure modules reach none of these: no files, sockets, clocks, processes, chance."""

PURE = {
    *("desktop/actions", "desktop/files/editing", "recording/timing", "tools/conversation"),
    *("vncbridge/rfb/messages.py", "vncbridge/rfb/permissions.py", "desktop/lease/lease.py"),
    *("vncbridge/rfb/cut_text.py", "vncbridge/rfb/server_messages.py"),
    *("desktop/input/keys.py", "desktop/input/keymap.py", "desktop/input/keysyms.py"),
    "desktop/input/events.py",
}
"""Folders and modules that must stay pure."""

VALUES = {
    *("desktop.accessibility.admitted_field", "desktop.accessibility.interfaces"),
    *("desktop.capture.frames", "desktop.input.events", "desktop.windows.focused"),
    "desktop.launch_port.launch_port",
    *("desktop.pages.schema", "desktop.pages.scripts", "desktop.pages.entry.field_scripts"),
    *("desktop.mcp.calls.images", "desktop.mcp.limits"),
    *(f"desktop.openapi.{name}" for name in ("commands", "files", "operations", "recordings")),
    *("desktop.openapi.mcp_tools", "desktop.openapi.screen", "desktop.openapi.state"),
    *(
        f"tools.control_plane.openapi.{name}"
        for name in ("administration", "chats", "operations", "people", "playbooks", "recordings")
    ),
    *("tools.agents.providers.reply_errors", "tools.agents.scripted.script.endpoint"),
    "tools.evaluation.task",
    *("tools.commands.exit_status", "tools.commands.diagnosis.finding"),
    *("tools.fleet.desktop_info", "tools.kit.support.spec"),
    "tools.conversation.uploaded",
    *("tools.cluster.placing.actions", "tools.cluster.placing.situation"),
    "tools.store.backends.leadership",
}
"""Pure modules without a decision in them: the tests of their users suffice."""

TWINS = {
    *("Applications", "Clipboard", "Desktop", "EventStream", "Keyboard", "Lease", "Mouse"),
    *(
        "Client",
        "DesktopCollection",
        "Expectation",
        "FileCollection",
        "PlaneTransport",
        "Recordings",
        "Run",
    ),
    *(
        "ReceivedEvents",
        "RunEvents",
        "RunRecording",
        "ScreenWaits",
        "SecretCollection",
        "TokenCollection",
        "Transport",
        "Windows",
    ),
}
"""Classes whose twin without ``await`` has the same name."""
