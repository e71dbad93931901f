"""A process that runs init without namespaces, for a service that ends with this standard input."""

import os
import sys

from deskhand.desktop.launch.channel import adopted
from deskhand.desktop.launch.inside.init import Init
from deskhand.desktop.launch.signals import SignalPipe

channel, signals = adopted(int(sys.argv[1])), SignalPipe()
service = os.posix_spawn("/bin/cat", ["cat"], {})
sys.exit(Init(service, signals, channel, separated=False).wait())
