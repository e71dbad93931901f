"""A Qt dialog that asks for a password and writes it into a file.

Usage: python3 qt_password.py FILE. The system's Python runs it, inside a desktop, with Debian's
package python3-pyqt6.
"""

import sys
from pathlib import Path

from PyQt6.QtWidgets import QApplication, QInputDialog, QLineEdit

application = QApplication(sys.argv)
dialog = QInputDialog()
dialog.setWindowTitle("password")
dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
dialog.textValueSelected.connect(lambda text: Path(sys.argv[1]).write_text(text))
dialog.exec()
