"""Names and answers of the control plane's HTTP operations, for its OpenAPI document. Data."""
