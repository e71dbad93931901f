import socket
import threading

from deskhand.tools.agents.providers.environment.hosts import HostAnswer, ask_hosts
from deskhand.tools.agents.providers.provider_table import accounts_in


def test_a_refusal_is_an_answer_and_a_closed_port_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as request:
                while request.readline().strip():
                    pass
                connection.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")

        answering = threading.Thread(target=refuse)
        answering.start()
        keys = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        keys |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}
        first, second = ask_hosts(accounts_in(keys))
        answering.join()
    assert first.problem is not None
    assert second == HostAnswer(f"127.0.0.1:{port}")


def test_without_a_key_no_host_is_asked() -> None:
    assert ask_hosts({}) == []
