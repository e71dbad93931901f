"""Reports of an evaluation: rates with intervals, comparison, JSON and the page of failures."""
