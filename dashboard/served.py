"""The server that `recon dashboard` starts: Streamlit's own, behind the desk's doorway.

No secret is written anywhere: what Streamlit reads from a file elsewhere is handed to it in this process.
"""

import json
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.secrets import SecretsValue

from dashboard.assets import Assets
from dashboard.doorway import STANDING, Doorway, Hardened
from dashboard.entrance import PROVIDER
from dashboard.hints import Hints
from dashboard.readiness import ready
from dashboard.returning import Returning
from recon.admission import Admission
from recon.model.errors import ConfigurationError
from recon.model.settings import Settings
from recon.rules.entrances import callback

# Streamlit keeps what is in the id token only, and some providers put there only what they are asked for.
CLAIMS: Final = ("email", "email_verified", "name")


def secrets(settings: Settings) -> dict[str, SecretsValue]:
    """Return what Streamlit takes from secrets.toml elsewhere; nothing where it signs nobody in."""
    told = settings.sign_in
    if settings.dashboard.mode != "oidc":
        return {}
    claims = {"id_token": dict.fromkeys((*CLAIMS, told.groups_claim))}
    provider: dict[str, SecretsValue] = {
        "client_id": told.client_id,
        "client_secret": told.client_secret.reveal(),
        "server_metadata_url": told.metadata_url,
        # Streamlit would ask for select_account, which some providers refuse without a word.
        "client_kwargs": {"scope": told.scopes, "prompt": ""},
        "authorize_params": {"claims": json.dumps(claims)},
    }
    return {
        "auth": {
            "redirect_uri": callback(settings.dashboard),
            "cookie_secret": told.cookie_secret.reveal(),
            PROVIDER: provider,
        }
    }


def middleware(admission: Admission) -> list[Middleware]:
    """Return what every request passes, the outermost first.

    Raises:
        ConfigurationError: Streamlit was told to believe headers of anybody's.
    """
    if st.get_option("server.trustedUserHeaders"):
        raise ConfigurationError(
            "Expected Streamlit's server.trustedUserHeaders to be unset, because it believes whoever reaches "
            "the port; found it set: use dashboard.mode proxy instead."
        )
    settings = admission.settings
    url, secret = settings.dashboard.url, settings.sign_in.cookie_secret
    passed = [
        Middleware(Hardened, secure=url.startswith("https://") and admission.mode != "local"),
        Middleware(Doorway, admission=admission),
    ]
    if admission.mode == "oidc":
        passed.append(Middleware(Returning, url=url, secret=secret))
    return [*passed, Middleware(Assets), Middleware(Hints)]


STANDING.admission = Admission.open()
app = st.App(
    Path(__file__).with_name("app.py"),
    secrets=secrets(STANDING.admission.settings),
    middleware=middleware(STANDING.admission),
    lifespan=ready,
)
