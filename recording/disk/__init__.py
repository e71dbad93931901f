"""Free space of a disk: measured, judged, and reserved for what must be finished."""
