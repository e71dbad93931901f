"""What this machine has for the providers: installed clients, and hosts that answer."""
