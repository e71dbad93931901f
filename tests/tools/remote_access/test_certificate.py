import ssl
from pathlib import Path

import pytest

from deskhand.tools.remote_access.certificate import ServerCertificate, own_certificate
from tests.system.certificates import ServerCertificate as Files
from tests.system.certificates import server_certificate

NAME = "desk.example"


def renew(files: Files, by: Files) -> None:
    """Replace both files, as a program that renews certificates does."""
    for old, new in ((files.cert, by.cert), (files.key, by.key)):
        new.rename(old)


def shown(server: ssl.SSLContext, name: str | None = NAME) -> str:
    """Return the certificate (PEM) that a server shows to a client, over buffers in memory."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(back, there, server_hostname=name)
    other = server.wrap_bio(there, back, server_side=True)
    for end in (client, other, client, other):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    return ssl.DER_cert_to_PEM_cert(certificate)


@pytest.mark.parametrize("name", [NAME, None])
def test_a_renewed_certificate_is_shown_to_the_next_client(
    tmp_path: Path, name: str | None
) -> None:
    files, later = (server_certificate(tmp_path / one, NAME) for one in ("first", "second"))
    published: list[str] = []
    served = ServerCertificate(str(files.cert), str(files.key))
    served.publish(published.append)
    first = shown(served.context, name)
    renew(files, later)
    second = shown(served.context, name)
    assert [first, second, second] == [*published, shown(served.context, name)]
    assert first != second == own_certificate(str(files.cert))


def test_files_that_do_not_belong_together_change_nothing_and_warn_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files, later = (server_certificate(tmp_path / one, NAME) for one in ("first", "second"))
    served = ServerCertificate(str(files.cert), str(files.key))
    first = shown(served.context)
    later.cert.rename(files.cert)
    assert [shown(served.context), shown(served.context)] == [first, first]
    (warning,) = caplog.messages
    assert warning.startswith("the certificate is not renewed: tls_cert: ")
    later.key.rename(files.key)
    assert shown(served.context) == own_certificate(str(files.cert)) != first


def test_removed_files_change_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = server_certificate(tmp_path, NAME)
    served = ServerCertificate(str(files.cert), str(files.key))
    first = shown(served.context)
    files.key.unlink()
    assert shown(served.context) == first
    assert "No such file" in caplog.text
