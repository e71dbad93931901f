"""The network of one desktop, made by root before the desktop's service drops its privileges.

A desktop whose egress is not ``open`` gets a network namespace. Its service and all that the
service starts are in it; only the service's listening socket belongs to the host's namespace,
because it was bound before. Unix sockets in the file system connect across namespaces.

- Outwards leads slirp4netns (modes ``internet`` and ``list``), a user-mode network stack in the
  host's namespace. The host forwards nothing, and its loopback interface is not reachable.
- nftables rules in the namespace refuse the addresses of the host and of private networks. The
  agent has no capability there. Refused packets are logged to a netlink socket that root opens and
  the service reads.
- In the mode ``list`` only tinyproxy, as a user of its own, is let out.
- Each granted address is a listener in the namespace, which `relay` connects with the host.

All helper processes end with the service: by a pipe that its end closes, or by the parent-death
signal. If one ends before, init starts it again; meanwhile nothing is reached that needs it.
"""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from deskhand.desktop.isolation.account import Account

from . import kernel
from .egress import Egress, Grant
from .errors import EgressUnavailable
from .gateway import Gateway, ProgramKeeper
from .host_networks import refused
from .programs import missing
from .proxy_config import proxy_environment
from .ruleset import DNS_FORWARDER, LOG_GROUP, ruleset

RESOLVER = Path("/etc/resolv.conf")
OWN_ADDRESS = "10.0.2.100"
"""Address of the namespace; slirp4netns gives it the same, slirp4netns(1)."""

ROUTES = Path("/proc/net/route")
ADDRESSES = Path("/proc/net/fib_trie")
POLICY_FILE = "policies/managed/deskhand-egress.json"
"""Below the folder of a browser, such as ``/etc/chromium``."""


@dataclass(frozen=True)
class DesktopNetwork:
    """The network that a desktop has."""

    egress: Egress = field(default_factory=Egress)
    """The one in force."""
    because: str = ""
    """Why it is ``open`` although another one is the default."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of commands and applications."""
    packets: socket.socket | None = None
    """Netlink socket of the refused packets."""
    proxy_log: int | None = None
    """Reading end of the proxy's log."""
    notices: Mapping[str, int] = field(default_factory=dict)
    """Reading ends of the notices of the programs by which it is connected."""
    restarting: set[str] = field(default_factory=set)
    """The programs that do not work now; they are started again."""

    def to_json(self) -> dict[str, object]:
        """Return the fields of the status."""
        state = {"because": self.because, "restarting": sorted(self.restarting)}
        return {**self.egress.to_json(), **state}


@contextmanager
def joined(
    egress: Egress,
    account: Account,
    policies: Mapping[Path, str] | None = None,
    own_mounts: bool = False,
    keeper: ProgramKeeper | None = None,
) -> Iterator[DesktopNetwork]:
    """Move the calling thread into the network of a desktop, and yield it.

    ``keeper`` starts the programs again that end; without one there is no egress but ``open``.
    ``own_mounts`` if this process has a mount namespace that is not the host's.
    ``policies`` has a managed policy for each folder of a browser, for the mode ``list``.

    Raises:
        EgressUnavailable: If the egress is required and cannot be enforced.
    """
    with ExitStack() as stack:
        if egress.mode == "open":
            yield DesktopNetwork(egress)
            return
        reason = _not_isolated(account) or missing(egress.mode)
        found = None
        if not reason and keeper is None:
            reason = "nothing starts its programs again when they end"
        elif not reason and keeper is not None:
            try:
                with ExitStack() as attempt:
                    found = _join(egress, policies or {}, own_mounts, keeper, attempt)
                    stack.push(attempt.pop_all())
            except (OSError, EgressUnavailable) as error:
                reason = str(error)
        if found is None:
            if egress.required:
                raise EgressUnavailable(f"egress {egress.mode} cannot be enforced: {reason}")
            found = DesktopNetwork(replace(egress, mode="open", allow=()), reason)
        yield found


def _not_isolated(account: Account) -> str:
    if os.geteuid() != 0:
        return "only root can make a network namespace"
    return "" if account.numbered else f"the desktop works as the user {account.agent.name}"


def _join(
    egress: Egress,
    policies: Mapping[Path, str],
    own_mounts: bool,
    keeper: ProgramKeeper,
    stack: ExitStack,
) -> DesktopNetwork:
    connected = egress.mode in ("internet", "list")
    networks = refused(ROUTES.read_text(), ADDRESSES.read_text())
    host = kernel.own_namespace()
    stack.callback(os.close, host)
    kernel.new_namespace()
    # Undone only where a later step fails: the caller stays in the namespace.
    with ExitStack() as on_failure:
        on_failure.callback(kernel.enter_namespace, host)
        gateway = stack.enter_context(Gateway(keeper))
        relays = list(_listeners(egress.grants))
        own = kernel.own_namespace()
        stack.callback(os.close, own)
        with kernel.inside(host):
            if connected:
                gateway.connect(own)
            if relays:
                gateway.relay(relays)
        if not connected:
            # Without any route, the rules would see no packet to report and to answer.
            kernel.add_loopback_address(OWN_ADDRESS, len(egress.grants))
            kernel.route_all_to_loopback()
        packets = stack.enter_context(kernel.refused_packets(LOG_GROUP))
        gateway.enforce(ruleset(egress.mode, networks))
        if not own_mounts:
            kernel.own_mounts()
        if connected:
            kernel.show(f"nameserver {DNS_FORWARDER}\n", RESOLVER.resolve())
        if egress.mode != "list":
            on_failure.pop_all()
            return DesktopNetwork(egress, packets=packets, notices=gateway.notices)
        for folder, text in policies.items():
            if folder.is_dir():
                kernel.show_file_in(folder, POLICY_FILE, text)
        log = gateway.start_proxy(egress.allow)
        on_failure.pop_all()
    environment = proxy_environment(egress.grants)
    return DesktopNetwork(egress, "", environment, packets, log, gateway.notices)


def _listeners(grants: Sequence[Grant]) -> Iterator[tuple[socket.socket, Grant]]:
    """Yield a listener for each address that is granted, once if several grants name it."""
    wanted = {(address, one.port): one for one in grants for address in one.addresses}
    others = {host for host, _ in wanted if ":" not in host and not host.startswith("127.")}
    for number, address in enumerate(sorted(others)):
        kernel.add_loopback_address(address, number)
    for (host, port), grant in wanted.items():
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        yield socket.create_server((host, port), family=family), grant
