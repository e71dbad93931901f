"""Description of HTTP operations in OpenAPI: names of operations and schemas of answers. Pure."""
