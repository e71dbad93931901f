"""Names and answers of a desktop's HTTP operations, for its OpenAPI document. Data."""
