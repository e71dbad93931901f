"""A text editor of Tk. Usage: python3 tk_editor.py FILE; Ctrl+S writes the text into it."""

import sys
import tkinter
from pathlib import Path

file = Path(sys.argv[1])
window = tkinter.Tk()
window.title("tk editor")
window.geometry("600x400")
text = tkinter.Text(window)
text.pack(fill="both", expand=True)
text.focus_set()


def content() -> str:
    """Return the text without the line break that Tk adds."""
    return text.get("1.0", "end-1c")


def save(_: object) -> None:
    """Replace the file at once."""
    partial = file.with_suffix(".part")
    partial.write_text(content())
    partial.rename(file)


def capitals() -> None:
    """Replace all letters by capitals."""
    text.replace("1.0", "end-1c", content().upper())


def select(_: object) -> str:
    """Select all; Tk moves the cursor to the beginning of the line instead."""
    text.tag_add("sel", "1.0", "end-1c")
    return "break"


menus = tkinter.Menu(window)
menu = tkinter.Menu(menus, tearoff=False)
menu.add_command(label="Capitals", command=capitals)
menus.add_cascade(label="Text", menu=menu)
window.configure(menu=menus)
text.bind("<Control-s>", save)
text.bind("<Control-a>", select)
# On X11 Tk inserts the clipboard before the selection.
text.bind("<<Paste>>", lambda _: text.delete("1.0", "end") if text.tag_ranges("sel") else None)
window.mainloop()
