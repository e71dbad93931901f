"""The RFB proxy: message parser, permissions, viewers, proxy."""
