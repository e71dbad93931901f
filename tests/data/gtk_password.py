"""A GTK dialog that asks for a password and writes it into a file.

Usage: python3 gtk_password.py FILE. The system's Python runs it, inside a desktop; GTK is called
as the C library that it is, so that nothing must be installed for it.
"""

import ctypes
import sys
from pathlib import Path

POINTER, INTEGER = ctypes.c_void_p, ctypes.c_int
ACTIVATED = ctypes.CFUNCTYPE(None, POINTER, POINTER)

gtk = ctypes.CDLL("libgtk-3.so.0")
for name in ("gtk_window_new", "gtk_entry_new"):
    getattr(gtk, name).restype = POINTER
gtk.gtk_entry_get_text.restype = ctypes.c_char_p
gtk.gtk_entry_set_visibility.argtypes = [POINTER, INTEGER]
gtk.gtk_container_add.argtypes = [POINTER, POINTER]
gtk.gtk_window_set_title.argtypes = [POINTER, ctypes.c_char_p]
for name in ("gtk_entry_get_text", "gtk_widget_show_all"):
    getattr(gtk, name).argtypes = [POINTER]
gtk.g_signal_connect_data.argtypes = [
    *(POINTER, ctypes.c_char_p, ACTIVATED, POINTER, POINTER, INTEGER)
]

gtk.gtk_init(None, None)
window, entry = gtk.gtk_window_new(0), gtk.gtk_entry_new()


def activated(_: int, __: int) -> None:
    """Write the password, and end."""
    Path(sys.argv[1]).write_bytes(gtk.gtk_entry_get_text(entry))
    gtk.gtk_main_quit()


handler = ACTIVATED(activated)
gtk.gtk_entry_set_visibility(entry, 0)
gtk.gtk_window_set_title(window, b"password")
gtk.g_signal_connect_data(entry, b"activate", handler, None, None, 0)
gtk.gtk_container_add(window, entry)
gtk.gtk_widget_show_all(window)
gtk.gtk_main()
