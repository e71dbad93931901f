"""Actions of clients: parsing, validation, plans of input events, OpenAPI description. Pure."""
