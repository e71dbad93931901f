"""Grabs the keyboard, and writes down the keys that it gets.

Usage: python3 grabber.py FILE [WAY]; the system's Python runs it, inside a desktop. It writes
"grabbed" and "key CODE". With ``pass`` a child goes on with the connection; with ``exhaust`` it
takes all connections that the X server has left after seven keys, and writes "alone"; with
``server`` it grabs the server then, as soon as there is a file FILE.go, and writes "alone".
"""

import ctypes
import os
import sys
import time
from ctypes import byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from pathlib import Path

x11 = ctypes.CDLL("libX11.so.6")
HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
ignore = HANDLER(lambda display, error: 0)
x11.XSetErrorHandler(ignore)
x11.XOpenDisplay.restype = c_void_p
x11.XOpenDisplay.argtypes = [c_char_p]
x11.XDefaultRootWindow.restype = c_ulong
x11.XDefaultRootWindow.argtypes = [c_void_p]
x11.XCreateSimpleWindow.restype = c_ulong
x11.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, *[c_int] * 2, *[c_uint] * 3, *[c_ulong] * 2]
x11.XMapWindow.argtypes = [c_void_p, c_ulong]
x11.XSync.argtypes = [c_void_p, c_int]
x11.XSelectInput.argtypes = [c_void_p, c_ulong, c_long]
x11.XGrabKeyboard.argtypes = [c_void_p, c_ulong, c_int, c_int, c_int, c_ulong]
x11.XGrabServer.argtypes = [c_void_p]
x11.XNextEvent.argtypes = [c_void_p, c_void_p]
ASYNC, NOW, KEY_PRESS = 1, 0, 2
way = sys.argv[2] if len(sys.argv) > 2 else ""

display = c_void_p(x11.XOpenDisplay(None))
root = x11.XDefaultRootWindow(display)
own = x11.XCreateSimpleWindow(display, root, 0, 0, 20, 20, 0, 0, 0)
# The window manager leaves such a window alone, and gives it no focus (CWOverrideRedirect).
attributes = (c_long * 14)()
ctypes.cast(ctypes.byref(attributes, 88), ctypes.POINTER(c_int))[0] = 1
x11.XChangeWindowAttributes.argtypes = [c_void_p, c_ulong, c_ulong, c_void_p]
x11.XChangeWindowAttributes(display, own, 1 << 9, byref(attributes))
x11.XSelectInput(display, own, 1)
x11.XMapWindow(display, own)
x11.XSync(display, 0)
with Path(sys.argv[1]).open("a", buffering=1) as notes:
    status = x11.XGrabKeyboard(display, own, 1, ASYNC, ASYNC, NOW)
    print("grabbed" if status == 0 else f"status {status}", file=notes)
    if way == "pass" and os.fork():
        # The child has the connection, which the server knows as that of this process.
        os._exit(0)
    event = (c_long * 24)()
    keys = 0
    while True:
        x11.XNextEvent(display, byref(event))
        if ctypes.cast(event, ctypes.POINTER(c_int))[0] != KEY_PRESS:
            continue
        print("key", (c_uint * 48).from_buffer(event)[21], file=notes)
        keys += 1
        if keys < len("control"):
            continue
        if way == "exhaust":
            while x11.XOpenDisplay(None):
                pass
            print("alone", file=notes)
        elif way == "server":
            while not Path(f"{sys.argv[1]}.go").exists():
                time.sleep(0.05)
            x11.XGrabServer(display)
            x11.XSync(display, 0)
            print("alone", file=notes)
