"""A text editor of Qt. Usage: python3 qt_editor.py FILE; Ctrl+S writes the text into it."""

import sys
from pathlib import Path

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit

file = Path(sys.argv[1])
application = QApplication(["qt"])
window = QMainWindow()
window.setWindowTitle("qt editor")
text = QPlainTextEdit()
window.setCentralWidget(text)


def save() -> None:
    """Replace the file at once."""
    partial = file.with_suffix(".part")
    partial.write_text(text.toPlainText())
    partial.rename(file)


menu = window.menuBar().addMenu("Text")
capitals = QAction("Capitals", window)
capitals.triggered.connect(lambda: text.setPlainText(text.toPlainText().upper()))
menu.addAction(capitals)
saving = QAction("Save", window)
saving.setShortcut("Ctrl+S")
saving.triggered.connect(save)
menu.addAction(saving)
window.resize(600, 400)
window.show()
application.exec()
