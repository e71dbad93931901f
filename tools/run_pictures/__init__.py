"""Pictures of a run instead of its video: contact sheets and reports."""
