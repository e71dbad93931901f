"""Hosts by which approvals judge addresses, beside those that a real browser opens."""

from playwright.sync_api import Browser

from deskhand.tools.agents.approvals.hosts import navigated_host

ADDRESSES = (
    *("http://evil.com./", "http://evil。com", "http://good.example@evil.com", "http:evil.com"),
    *("http:\\\\evil.com", "http:///evil.com", "http://%65vil.com", "http://e\tvil.com"),
    *("http://good.example;x@evil.com", "http://good.example\\@evil.com", "http://bücher.com"),
    *("http://faß.de", "http://ev\u00adil.com", "http://xn--80ak6aa92e.com", "http://a_b.com"),
    *("http://0x5db8d822/x", "http://1572395042", "http://0x7f.1", "http://3.5", "http://1.2.3.4."),
    *("http://[2606:2800:0220:1::0001]/x", "http://[::ffff:1.2.3.4]", "https://evil.com:8080/x"),
)


def test_the_host_is_the_one_that_the_browser_opens(browser: Browser) -> None:
    page = browser.new_page()
    try:
        opened = page.evaluate("all => all.map(one => new URL(one).hostname)", list(ADDRESSES))
    finally:
        page.close()
    judged = [navigated_host(one) for one in ADDRESSES]
    assert judged == [host.removesuffix(".") for host in opened]
