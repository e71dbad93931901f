"""Client of a desktop service for programs and the control plane; async, generated sync twins."""
