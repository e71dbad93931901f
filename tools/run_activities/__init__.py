"""What people do in runs: their activities, stops after a step, runs that begin again."""
