import os
import subprocess
import sys
from pathlib import Path


def test_dropped_privileges_cannot_be_regained() -> None:
    if os.geteuid() != 0:
        assert os.geteuid() != 0
        return
    script = (
        "import os\n"
        "from pathlib import Path\n"
        "from deskhand.desktop.isolation.account import Account\n"
        "from deskhand.desktop.isolation.desktop_user import DesktopUser\n"
        "from deskhand.desktop.isolation.privileges import become\n"
        "nobody = DesktopUser('nobody', 65534, 65534)\n"
        "agent = DesktopUser('agent', 65533, 65533)\n"
        "become(Account(agent, 'user', service=nobody, browser=agent))\n"
        "print(os.getresuid(), os.getresgid(), os.getgroups())\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print('NoNewPrivs:\\t1' in status)\n"
        "try:\n"
        "    os.setuid(0)\n"
        "except PermissionError:\n"
        "    print('refused')\n"
    )
    root = Path(__file__).parents[3]
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown == ["(65534, 65534, 65534) (65534, 65534, 65534) []", "True", "refused"]
