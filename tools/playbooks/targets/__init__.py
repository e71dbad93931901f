"""Finding of the target of a playbook's step on a screen: by identity, else by its picture."""
