from pathlib import Path

import pytest

from recon.admission import Admission
from recon.model.errors import ConfigurationError
from recon.model.records.people import Operator
from recon.model.records.words import Role
from tests.builders import NOON

LONG = "0123456789abcdef0123456789abcdef"
OIDC = """
[dashboard]
mode = "oidc"
url = "https://desk.example.com"
[sign_in]
metadata_url = "https://id.example.com/.well-known/openid-configuration"
client_id = "desk"
groups_claim = "roles"
groups = [{ group = "leads", role = "approver" }]
"""


def test_the_door_is_as_the_settings_and_the_environment_say(tmp_path: Path) -> None:
    (tmp_path / "recon.toml").write_text(OIDC)
    secrets = {"RECON_OIDC_CLIENT_SECRET": "s", "RECON_COOKIE_SECRET": LONG}

    door = Admission.open({"RECON_CONFIG": str(tmp_path), **secrets})
    told = {"is_logged_in": True, "email": "ana@example.com", "email_verified": True, "roles": ["leads"]}
    found = Admission(door.settings, lambda: NOON).by_claims({**told, "iat": NOON.timestamp()})

    assert door.mode == "oidc"
    assert isinstance(found, Operator)
    assert (found.name, found.role, found.since) == ("ana@example.com", Role.APPROVER, NOON)


def test_a_door_that_lacks_something_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "recon.toml").write_text(OIDC)

    with pytest.raises(ConfigurationError, match="found nothing in RECON_OIDC_CLIENT_SECRET"):
        Admission.open({"RECON_CONFIG": str(tmp_path), "RECON_COOKIE_SECRET": LONG})
