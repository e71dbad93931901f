"""Decision as which user the control plane serves, for its start and for `deskhand doctor`."""

from pathlib import Path

from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot, process_user
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.secrets.keys import KEYRING, StoreKeys


def user_to_become(
    settings: Settings, keys: StoreKeys, token_file: Path | None = None
) -> ProcessUser | StaysRoot | None:
    """Return the user to become, or why it stays root; ``None`` if it was not started as root."""
    found = process_user(
        settings.run_as, settings.data_dir, () if token_file is None else (token_file,)
    )
    if isinstance(found, ProcessUser):
        key = keys.existing()
        if key is not None and key.source == KEYRING:
            because = "the key of the secret store is in the keyring of root"
            return StaysRoot(because, "pass the key as a systemd credential")
    return found
