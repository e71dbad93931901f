from ipaddress import IPv4Network

from deskhand.desktop.network.ruleset import ruleset

NETWORKS = (IPv4Network("10.0.0.0/8"), IPv4Network("169.254.0.0/16"))


def chain(rules: str, name: str) -> list[str]:
    """Return the rules of a chain."""
    lines = rules.partition(f"chain {name} {{")[2].partition("}")[0].splitlines()
    found = [line.strip() for line in rules.partition(f"chain {name} {{")[2].splitlines()]
    assert lines
    return found[1 : found.index("}")]


def test_what_no_rule_accepts_is_refused() -> None:
    rules = chain(ruleset("internet", NETWORKS), "output")
    assert rules == [
        "type filter hook output priority 0; policy drop;",
        "fib daddr type local accept",
        "jump internet",
        "goto refused",
    ]


def test_the_internet_is_all_but_the_networks_and_names_are_resolved() -> None:
    rules = ruleset("internet", NETWORKS)
    assert "elements = { 10.0.0.0/8, 169.254.0.0/16 }" in rules
    assert chain(rules, "internet") == [
        "ip daddr 10.0.2.3 udp dport 53 accept",
        "ip daddr 10.0.2.3 tcp dport 53 accept",
        "ip daddr @refused4 goto refused",
        "meta nfproto ipv4 accept",
    ]


def test_with_a_list_only_the_proxy_is_let_out() -> None:
    assert "meta skuid 65534 jump internet" in chain(ruleset("list", NETWORKS), "output")


def test_without_egress_nothing_is_let_out() -> None:
    rules = chain(ruleset("none", NETWORKS), "output")
    assert rules[1:] == ["fib daddr type local accept", "", "goto refused"]


def test_refused_packets_are_logged_and_answered() -> None:
    log, reset, prohibited = chain(ruleset("none", NETWORKS), "refused")
    assert log.startswith("limit rate")
    assert "log group 1 queue-threshold 1" in log
    assert (reset, prohibited) == (
        "meta l4proto tcp reject with tcp reset",
        "reject with icmpx type admin-prohibited",
    )
