"""What a step costs: tokens, money, and time by stage. Pure."""
