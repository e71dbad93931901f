"""A GTK text view that writes what it holds into the next file when F2 is struck.

Usage: python3 gtk_view.py FOLDER. The system's Python runs it, inside a desktop; GTK is called
as the C library that it is, so that nothing must be installed for it.
"""

import ctypes
import itertools
import sys
from pathlib import Path

F2 = 0xFFBF
POINTER, INTEGER = ctypes.c_void_p, ctypes.c_int
PRESSED = ctypes.CFUNCTYPE(INTEGER, POINTER, POINTER, POINTER)

gtk = ctypes.CDLL("libgtk-3.so.0")
for name in ("gtk_window_new", "gtk_text_view_new", "gtk_text_view_get_buffer"):
    getattr(gtk, name).restype = POINTER
gtk.gtk_text_buffer_get_text.restype = ctypes.c_char_p
gtk.gtk_text_buffer_get_text.argtypes = [POINTER, POINTER, POINTER, INTEGER]
gtk.gtk_text_buffer_get_bounds.argtypes = [POINTER, POINTER, POINTER]
gtk.gtk_text_buffer_set_text.argtypes = [POINTER, ctypes.c_char_p, INTEGER]
gtk.gdk_event_get_keyval.argtypes = [POINTER, POINTER]
gtk.gtk_window_set_default_size.argtypes = [POINTER, INTEGER, INTEGER]
for name in ("gtk_text_view_get_buffer", "gtk_widget_show_all"):
    getattr(gtk, name).argtypes = [POINTER]
gtk.gtk_container_add.argtypes = [POINTER, POINTER]
gtk.gtk_window_set_title.argtypes = [POINTER, ctypes.c_char_p]
gtk.g_signal_connect_data.argtypes = [
    *(POINTER, ctypes.c_char_p, PRESSED, POINTER, POINTER, INTEGER)
]

folder = Path(sys.argv[1])
numbers = itertools.count(1)

gtk.gtk_init(None, None)
window = gtk.gtk_window_new(0)
view = gtk.gtk_text_view_new()
buffer = gtk.gtk_text_view_get_buffer(view)


def pressed(_: int, event: int, __: int) -> int:
    """Write and empty the view on F2; leave every other key to it."""
    struck = ctypes.c_uint()
    gtk.gdk_event_get_keyval(event, ctypes.byref(struck))
    if struck.value != F2:
        return 0
    # A GtkTextIter is opaque, and shorter than that.
    first, last = ctypes.create_string_buffer(256), ctypes.create_string_buffer(256)
    gtk.gtk_text_buffer_get_bounds(buffer, first, last)
    text = gtk.gtk_text_buffer_get_text(buffer, first, last, 1)
    gtk.gtk_text_buffer_set_text(buffer, b"", 0)
    number = next(numbers)
    partial = folder / f"{number}.part"
    partial.write_bytes(text)
    partial.rename(folder / str(number))
    return 1


handler = PRESSED(pressed)

gtk.gtk_window_set_default_size(window, 800, 400)
gtk.gtk_window_set_title(window, b"gtk view")
gtk.g_signal_connect_data(view, b"key-press-event", handler, None, None, 0)
gtk.gtk_container_add(window, view)
gtk.gtk_widget_show_all(window)
gtk.gtk_main()
