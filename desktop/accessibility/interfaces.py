"""Names of AT-SPI and D-Bus that several modules use. Pure."""

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
DOCUMENT = "org.a11y.atspi.Document"
REGISTRY = "org.a11y.atspi.Registry"
REPLY_SERIAL = 5
"""Number of the header field REPLY_SERIAL (D-Bus specification, header fields)."""

Address = tuple[str, str]
"""Bus name and object path."""
LONGEST_ADDRESS = 255
"""Characters of a bus name (D-Bus specification), and of a path: no toolkit has longer ones."""
