"""Console messages and requests of a tab."""

from typing import Any

from deskhand.desktop.pages.content.traffic import MOST_ENTRIES, TabTraffic

Json = dict[str, Any]


def sent(traffic: TabTraffic, name: str, url: str, time: float = 1.0) -> None:
    request = {"method": "GET", "url": url}
    parameters = {"requestId": name, "request": request, "timestamp": time}
    traffic.received("Network.requestWillBeSent", parameters)


def test_the_console_is_read_once() -> None:
    traffic = TabTraffic()
    arguments: list[object] = [{"value": "a"}, {"description": "Array(2)"}, {"type": "object"}, 5]
    traffic.received("Runtime.consoleAPICalled", {"type": "log", "args": arguments})
    details = {"text": "Uncaught", "exception": {"description": "Error: x\n at y"}}
    traffic.received("Runtime.exceptionThrown", {"exceptionDetails": details})
    traffic.received("Log.entryAdded", {"entry": {"level": "error", "text": "404", "url": "u"}})
    traffic.received("Runtime.consoleAPICalled", {"type": "log", "args": None})
    traffic.received("DOM.other", {})
    assert traffic.read_console().splitlines() == [
        *("[log] a Array(2) object", "[error] Error: x at y", "[error] 404 u", "[log] "),
    ]
    assert traffic.read_console() == ""


def test_requests_are_read_once_when_they_are_answered() -> None:
    traffic = TabTraffic()
    sent(traffic, "1", "http://a/")
    response = {"status": 200, "mimeType": "text/html"}
    traffic.received("Network.responseReceived", {"requestId": "1", "response": response})
    traffic.received("Network.loadingFinished", {"requestId": "1", "timestamp": 1.5})
    sent(traffic, "2", "http://b/")
    traffic.received("Network.loadingFailed", {"requestId": "2", "errorText": "net::X"})
    sent(traffic, "3", "http://c/")
    traffic.received("Network.dataReceived", {"requestId": "3"})
    traffic.received("Network.dataReceived", {"requestId": "unknown"})
    assert traffic.read_network().splitlines() == [
        *("GET http://a/ 200 text/html 500 ms", "GET http://b/ failed: net::X -1000 ms"),
        "GET http://c/ pending",
    ]
    assert traffic.read_network() == "GET http://c/ pending"


def test_redirects_are_requests_of_their_own() -> None:
    traffic = TabTraffic()
    for url in ("http://a/", "http://b/", "http://c/"):
        sent(traffic, "1", url)
    assert [line.split()[1:3] for line in traffic.read_network().splitlines()] == [
        *(["http://a/", "redirected"], ["http://b/", "redirected"], ["http://c/", "pending"]),
    ]


def test_the_oldest_requests_are_dropped() -> None:
    traffic = TabTraffic()
    for number in range(MOST_ENTRIES + 1):
        sent(traffic, str(number), f"http://a/{number}")
    lines = traffic.read_network().splitlines()
    assert len(lines) == MOST_ENTRIES
    assert "http://a/1 " in lines[0]


def test_requests_of_the_browser_itself_are_left_out() -> None:
    traffic = TabTraffic()
    for number, scheme in enumerate(("chrome", "chrome-untrusted", "chrome-extension")):
        sent(traffic, str(number), f"{scheme}://theme/colors.css")
    traffic.received("Network.responseReceived", {"requestId": "0", "response": {"status": 200}})
    sent(traffic, "9", "http://chrome/")
    assert traffic.read_network() == "GET http://chrome/ pending"
