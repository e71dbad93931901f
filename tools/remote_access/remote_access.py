"""How the control plane is reached from other machines. Pure.

A browser knows the control plane by its *public address*, which may have another scheme, host and
base path than the address that we listen on. Three parties may change a request on its way:

- TLS ends here (``--tls-cert``) or in a proxy. The headers of a proxy count only if it is trusted.
- A request whose ``Host`` is that of the public address has come through the proxy: no foreign page
  can send that.
- A proxy keeps the base path or removes it; both reach the same route. All pages use relative
  links, so that no answer contains the base path.

`requests` replaces scheme, client, host and path in the ASGI scope, before access control and the
logs read them. The invariant: behind it no code reads an ``X-Forwarded-`` header.
"""

from dataclasses import dataclass, field

from deskhand.tools.control_plane.settings import Settings

from .exposure import check_certificate_files
from .forwarded import TrustedProxies, parse_proxies
from .public_url import PublicUrl, parse_public_url


@dataclass(frozen=True)
class RemoteAccess:
    """How the control plane is reached from other machines."""

    public: PublicUrl | None = None
    proxies: TrustedProxies = field(default_factory=TrustedProxies)


def remote_access(settings: Settings) -> RemoteAccess:
    """Return what the settings name.

    Raises:
        InvalidRemoteAccess: If one of them is wrong.
    """
    check_certificate_files(settings.tls_cert, settings.tls_key)
    public = parse_public_url(settings.public_url) if settings.public_url else None
    return RemoteAccess(public, parse_proxies(settings.trusted_proxy))
