"""The RFB proxy: parser, permissions, viewers, relay that reads no more than a viewer accepts."""
