"""Where requests go is an address and nothing more: what else it could hold would take the key's place."""

from pathlib import Path

import pytest

from recon.doors import config
from recon.model.errors import ConfigurationError


@pytest.mark.parametrize("name", ["RECON_STRIPE_BASE_URL", "RECON_SLACK_BASE_URL"])
@pytest.mark.parametrize(
    "address, said",
    [
        ("http://u:hidden@127.0.0.1:1", "without a user and a password"),
        ("https://hidden@x.example", "without a user and a password"),
        ("https:// hidden.example", "must be a web address"),
        ("https://hidden.example:99999", "must be a web address"),
        ("https://hidden.example:port", "must be a web address"),
    ],
)
def test_an_address_with_more_in_it_is_refused(
    name: str, address: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, address)

    with pytest.raises(ConfigurationError, match=said) as refused:
        config.load()

    assert name in str(refused.value)
    assert "hidden" not in str(refused.value)
