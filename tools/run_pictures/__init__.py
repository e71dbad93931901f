"""Pictures of a run instead of its video: contact sheets, trails, waterfalls and reports."""
