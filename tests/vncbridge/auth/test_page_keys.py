"""Second halves of browser sessions."""

from hypothesis import given
from hypothesis import strategies as st

from deskhand.vncbridge.auth.page_keys import PageKeys

LASTING = b"k" * 32


def test_a_key_fits_its_own_session_only() -> None:
    keys = PageKeys()
    key = keys.of("one", over_tls=False)
    assert keys.fits("one", key)
    assert not keys.fits("two", key)
    assert key not in keys.of("two", over_tls=False)


def test_a_key_ends_with_its_process_unless_it_was_given_over_tls() -> None:
    before, after = PageKeys(LASTING), PageKeys(LASTING)
    assert not after.fits("one", before.of("one", over_tls=False))
    assert after.fits("one", before.of("one", over_tls=True))
    assert not PageKeys().fits("one", before.of("one", over_tls=True))


def test_without_a_lasting_secret_each_key_ends_with_its_process() -> None:
    assert not PageKeys().fits("one", PageKeys().of("one", over_tls=True))


def test_services_that_share_sessions_accept_the_keys_of_each_other() -> None:
    one, other = (PageKeys(LASTING, always=True) for _ in range(2))
    assert other.fits("one", one.of("one", over_tls=False))


@given(st.text(), st.text())
def test_other_texts_do_not_fit(cookie: str, key: str) -> None:
    assert not PageKeys(LASTING).fits(cookie, key)
