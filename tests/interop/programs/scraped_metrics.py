"""Parses a text of metrics from standard input with Prometheus' own parser; prints the names."""

import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        float(sample.value)
    sys.stdout.write(f"{family.type} {family.name}\n")
