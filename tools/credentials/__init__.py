"""The credentials that a control plane accepts: loaded at the start, and stored as digests."""
