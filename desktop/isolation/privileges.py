"""The change of this process to the user of the service."""

import ctypes
import os
import signal

from .account import Account

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
"""Of <linux/prctl.h>, prctl(2)."""


def become(account: Account) -> None:
    """Drop irrevocably every privilege that the service's user does not have."""
    if account.dropped:
        user = account.service
        # The order is fixed: without root's rights neither the groups nor the gid can be changed
        # any more.
        os.setgroups(user.groups)
        os.setgid(user.gid)
        os.setuid(user.uid)
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # setuid clears the dumpable flag too, but not where fs.suid_dumpable is 1 (proc(5)).
        hide_from_own_user()


def hide_from_own_user() -> None:
    """Keep environment, memory and descriptors of this process from others of its user (proc(5)).

    Where commands run as the same user, they could read tokens and keys there. A debugger needs
    root's rights then, and a crash leaves no core file.
    """
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM when the parent dies; call after `become`, which resets this.

    If ``parent`` is no longer the parent, it has died already: the signal is sent at once.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
