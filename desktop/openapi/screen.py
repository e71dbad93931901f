"""Answers about the screen: actions, windows, widgets, applications."""

from deskhand.vncbridge.openapi.schemas import (
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    enum,
    nullable,
    record,
    reference,
)

SIZE = record("Size", {"width": COUNT, "height": COUNT})
SPACE = record("Space", {"name": TEXT, "width": COUNT, "height": COUNT})
_POINT = described({**array(INTEGER), "minItems": 2, "maxItems": 2}, "[x, y]")
_REGION = described({**array(INTEGER), "minItems": 4, "maxItems": 4}, "[x1, y1, x2, y2], half open")
_TIMINGS = record(
    "Timings", {"act_ms": NUMBER, "settle_ms": NUMBER, "capture_ms": NUMBER, "encode_ms": NUMBER}
)
_FOCUSED = nullable(
    record(
        "FocusedWindow",
        {"id": INTEGER, "title": TEXT},
        {"hint": described(TEXT, "How to use it, where that is not as it seems.")},
    )
)
_PICTURE: Json = {
    "screenshot_width": COUNT,
    "screenshot_height": COUNT,
    "screenshot_media_type": TEXT,
    "screenshot_data": described(TEXT, "Base64; absent if `unchanged`."),
    "native_size": SIZE,
    "unchanged": FLAG,
}
_PERFORMED: Json = {
    "point": _POINT,
    "native_point": _POINT,
    "model_point": described({**array(NUMBER), "minItems": 2, "maxItems": 2}, "[x, y]"),
    "clamped": described(FLAG, "A point up to two pixels outside was moved to the edge."),
    "told_text": TEXT,
    "typed_into": described(TEXT, "Host of the page that received a protected text."),
    "nothing_focused": described(FLAG, "No window had the keyboard: the text went nowhere."),
    **_PICTURE,
}
_TARGET = nullable(
    record(
        "ActionTarget",
        {},
        {
            "role": TEXT,
            "name": TEXT,
            "near": array(described(TEXT, "Texts beside it.")),
            "rectangle": _REGION,
            "source": enum("TargetSource", "accessibility"),
            "screen": SIZE,
            "native_point": _POINT,
            "patch": described(TEXT, "PNG in Base64 of the pixels around the point."),
            "patch_point": _POINT,
        },
    )
)
_OBSERVED: Json = {
    "settled": enum("Settled", "quiet", "ceiling", "no_change"),
    "changed_fraction": NUMBER,
    "changed_regions": array(_REGION),
    "focused_before": _FOCUSED,
    "focused_after": _FOCUSED,
    "targets": described(array(_TARGET), "What it was aimed at; null if unknown."),
    **_PICTURE,
}
_REPLAYED: Json = {"replayed": described(FLAG, "True if the call was executed before.")}
_END: Json = {"space": SPACE, "timings": _TIMINGS, "instance_id": TEXT}

ACTION_RESULT = record(
    "ActionResult",
    {"output": TEXT, "frame_id": TEXT, **_END},
    {**_PERFORMED, **_OBSERVED, **_REPLAYED},
)
_ERROR = record("ActionError", {"message": TEXT, "detail": TEXT})
_MEMBER = record(
    "BatchMember",
    {},
    {
        "output": TEXT,
        "frame_id": TEXT,
        **_PERFORMED,
        "timings": _TIMINGS,
        "error": _ERROR,
        "skipped": described(FLAG, "True if it never began, because one before it failed."),
    },
)
BATCH_RESULT = record(
    "BatchResult",
    {"results": array(_MEMBER), "skipped": COUNT, "frame_id": TEXT, **_END},
    {**_OBSERVED, **_REPLAYED},
)

_RECTANGLE = record("Rectangle", {"x": INTEGER, "y": INTEGER, "width": COUNT, "height": COUNT})
WINDOW = record(
    "Window",
    {
        "id": INTEGER,
        "title": TEXT,
        "class": TEXT,
        "pid": nullable(INTEGER),
        "geometry": _RECTANGLE,
        "native_geometry": _RECTANGLE,
        "focused": FLAG,
        "maximized": FLAG,
        "minimized": FLAG,
        "dialog": FLAG,
    },
)
WINDOWS = record("Windows", {"windows": array(WINDOW), "space": SPACE})
CHANGED_WINDOW = record(
    "ChangedWindow",
    {"window": nullable(WINDOW)},
    {"space": SPACE, "closed": described(FLAG, "True if there is no such window any more.")},
)
_WIDGET = record(
    "Widget",
    {"role": TEXT},
    {
        "name": TEXT,
        "ref": described(TEXT, "Names it in actions, until the tree is read again."),
        "rectangle": _REGION,
        "states": array(TEXT),
        "children": array(reference("Widget")),
    },
)
_CUT = described(
    array(TEXT),
    "What limits left out: bytes, children, depth, names (their ends), time, widgets.",
)
WIDGETS = record(
    "Widgets",
    {"space": SPACE, "complete": FLAG, "cut": _CUT, "applications": array(_WIDGET)},
    {"note": TEXT},
)
WIDGET_TEXT = record(
    "WidgetText",
    {
        "space": SPACE,
        "text": described(TEXT, "One line a widget: role, name, ref, point, states."),
        "lines": described(COUNT, "Lines of all pages."),
        "complete": FLAG,
        "cut": _CUT,
    },
    {"next_offset": COUNT, "note": TEXT},
)
WAITED = record(
    "WaitResult",
    {
        "met": FLAG,
        "unmet": array(described(TEXT, "Conditions that do not hold.")),
        "waited_ms": NUMBER,
        "seen": described(
            record(
                "SeenWhileWaiting",
                {"windows": array(TEXT)},
                {
                    "texts": array(described(TEXT, "Texts nearest to the wanted one.")),
                    "urls": array(TEXT),
                    "changed": FLAG,
                    "quiet": FLAG,
                    "process_running": FLAG,
                },
            ),
            "What was there.",
        ),
    },
    {"frame_id": TEXT, **_PICTURE},
)
BROWSER_RESULT = record(
    "BrowserResult",
    {
        "text": described(TEXT, "What was read or done."),
        "browser_state": record(
            "BrowserState",
            {
                "tabs": array(
                    record(
                        "BrowserTab",
                        {"tab_id": TEXT, "title": TEXT, "url": TEXT},
                        {
                            "active": described(FLAG, "True for the active tab, else absent."),
                            "dialog": described(
                                record("PageDialog", {"type": TEXT, "message": TEXT}),
                                "A dialog of the page that waits for an answer: `alert`, "
                                "`confirm`, `prompt`, `beforeunload` or `print`.",
                            ),
                        },
                    )
                )
            },
            {
                "state_changes": array(
                    record(
                        "BrowserChange",
                        {"type": TEXT},
                        {
                            "tab_id": TEXT,
                            "download_id": TEXT,
                            "url": TEXT,
                            "path": TEXT,
                            "size_bytes": COUNT,
                            "error": TEXT,
                        },
                    )
                )
            },
        ),
    },
    {
        **_PICTURE,
        "http_status": described(COUNT, "Of the document that `navigate` has opened over HTTP."),
        "told_text": described(TEXT, "What people may read of a typed text."),
        "told_value": described(TEXT, "What people may read of a value in a form."),
    },
)
FOCUS = record(
    "Focus",
    {
        "window": described(
            nullable(record("WindowWithFocus", {"title": TEXT, "class": TEXT, "dialog": FLAG})),
            "Null if no window has the keyboard.",
        ),
        "field": described(
            nullable(
                record(
                    "FocusedField",
                    {
                        "password": described(FLAG, "True also while its role is not known."),
                        "name": TEXT,
                        "description": TEXT,
                        "hints": described(TEXT, "Identifier, class and placeholder in a page."),
                        "host": described(TEXT, "Host of its page; empty outside of web pages."),
                    },
                )
            ),
            "Null if no application reports a single one, as terminals do.",
        ),
    },
)
_APPLICATION = record("Application", {"name": TEXT, "title": TEXT, "types": array(TEXT)})
APPLICATIONS = record("Applications", {"applications": array(_APPLICATION)})
LAUNCHED = record(
    "Launched",
    {"process_id": TEXT, "command": TEXT},
    {"pid": described(nullable(INTEGER), "As the desktop's programs see it.")},
)
POINTER = record("PointerPosition", {"native_point": _POINT})
PATCH_MATCHES = record(
    "PatchMatches",
    {
        "matches": array(record("PatchMatch", {"native_point": _POINT, "score": NUMBER})),
        "unique": FLAG,
        "native_size": SIZE,
    },
)
