import os
import socket
import subprocess
import sys

from deskhand.desktop.agent_socket.peer import Peer, peer_of
from deskhand.desktop.programs.process_tree import start_ticks


def test_the_peer_is_the_process_that_connected() -> None:
    one, other = socket.socketpair()
    with one, other:
        peer = peer_of(one)
        chain = peer.ancestry()
        peer.close()
    assert (chain[0].pid, chain[0].started) == (os.getpid(), start_ticks(os.getpid()))
    assert chain[1].pid == os.getppid()
    assert chain[-1].pid == 1 or len(chain) > 1


def test_a_process_that_has_ended_has_no_ancestry() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    peer = Peer(child.pid, os.pidfd_open(child.pid))
    assert [link.pid for link in peer.ancestry()[:2]] == [child.pid, os.getpid()]
    child.communicate(b"\n")
    assert not peer.lives()
    assert peer.ancestry() == ()
    peer.close()
    assert start_ticks(child.pid) is None
