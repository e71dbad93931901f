"""People of a team: their roles, invitations, and the runs that they may see."""
