"""Takes the place of the settings daemon of a display, and names a module for GTK to load.

Usage: python3 xsettings.py MODULE. The system's Python runs it, inside a desktop, until it is
killed. The format is that of the XSETTINGS specification of freedesktop.org.
"""

import ctypes
import struct
import sys
import time
from ctypes import c_ulong, c_void_p

STRING = 1
NAME = b"Gtk/Modules"

x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = c_void_p
for function in (x11.XDefaultRootWindow, x11.XCreateSimpleWindow, x11.XInternAtom):
    function.restype = c_ulong
x11.XGetSelectionOwner.restype = c_ulong


def padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % 4)


def settings(module: bytes) -> bytes:
    name = struct.pack("<BxH", STRING, len(NAME)) + padded(NAME) + struct.pack("<I", 1)
    return struct.pack("<BxxxII", 0, 1, 1) + name + struct.pack("<I", len(module)) + padded(module)


display = c_void_p(x11.XOpenDisplay(None))
root = c_ulong(x11.XDefaultRootWindow(display))
window = c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, c_ulong(0), c_ulong(0)))
data = settings(sys.argv[1].encode())
of_settings = c_ulong(x11.XInternAtom(display, b"_XSETTINGS_SETTINGS", 0))
x11.XChangeProperty(display, window, of_settings, of_settings, 8, 0, data, len(data))
manager = c_ulong(x11.XInternAtom(display, b"_XSETTINGS_S0", 0))
x11.XSetSelectionOwner(display, manager, window, c_ulong(0))
x11.XSync(display, 0)
print(x11.XGetSelectionOwner(display, manager) == window.value, flush=True)
while True:
    time.sleep(3600)
