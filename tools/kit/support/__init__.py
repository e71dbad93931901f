"""Common code of the tools: contract, arguments, results."""
