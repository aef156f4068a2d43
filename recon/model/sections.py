"""The keys of recon.toml: which field of the settings each one sets, and how its value is read.

What the fields mean is in settings.py; each key's unit and reason is in config/recon.toml.
"""

from collections.abc import Mapping

from recon.model import mapping_toml, readers
from recon.model.readers import Reader

_SLACK_SECONDS = readers.duration("seconds", low=1)
_TIMEOUT = readers.number(0.1, 300, "a number of seconds")

# Section of recon.toml: (attribute of Settings, None for Settings itself; key: (field, reader)).
SECTIONS: Mapping[str, tuple[str | None, Mapping[str, tuple[str, Reader]]]] = {
    "policy": (
        "policy",
        {
            "stuck_after_minutes": ("stuck_after", readers.duration("minutes")),
            "missing_after_minutes": ("missing_after", readers.duration("minutes")),
            "orphan_after_minutes": ("orphan_after", readers.duration("minutes")),
            "duplicate_window_hours": ("duplicate_window", readers.duration("hours")),
            "repeat_window_days": ("repeat_window", readers.duration("days")),
            "inferred_window_hours": ("inferred_window", readers.duration("hours")),
            "clock_skew_seconds": ("clock_skew", readers.duration("seconds")),
            "provider_pending_after_days": ("provider_pending_after", readers.duration("days")),
            "healing": ("healing", readers.flag),
        },
    ),
    "provider": (
        "provider",
        {
            "dashboard_url": ("dashboard_url", readers.web_address),
            "accounts": ("accounts", readers.accounts),
            "metadata_key": ("metadata_key", readers.metadata_key),
            "connect_timeout_seconds": ("connect_timeout_seconds", _TIMEOUT),
            "read_timeout_seconds": ("read_timeout_seconds", _TIMEOUT),
            "page_size": ("page_size", readers.count(1, 100)),
            "page_limit": ("page_limit", readers.count(1, 1_000_000)),
            "requests_per_second": (
                "requests_per_second",
                readers.number(0.1, 1000, "a number of requests"),
            ),
            "retry_limit": ("retry_limit", readers.count(0, 10_000)),
            "retry_seconds": ("retry_seconds", readers.number(0, 3600, "a number of seconds")),
        },
    ),
    "pull": (
        "pull",
        {
            "first_window_days": ("first_window", readers.duration("days", low=1)),
            "overlap_minutes": ("overlap", readers.duration("minutes")),
            "relist_days": ("relist", readers.duration("days", low=1)),
            "relist_slices": ("relist_slices", readers.count(1, 1000)),
            "intents_from": ("intents_from", readers.moment_or_none),
        },
    ),
    "lease": ("lease", {"duration_minutes": ("duration", readers.duration("minutes", low=1))}),
    "slack": (
        "slack",
        {
            "operators_channel": ("operators_channel", readers.text),
            "timeout_seconds": ("timeout_seconds", readers.count(1, 60, "a whole number of seconds")),
            "look_up_after_seconds": ("look_up_after", _SLACK_SECONDS),
            "attempt_limit": ("attempt_limit", readers.count(1, 100)),
            "claim_seconds": ("claim", _SLACK_SECONDS),
            "retry_after_limit_seconds": ("retry_after_limit", _SLACK_SECONDS),
            "messages_per_minute": ("messages_per_minute", readers.count(1, 10_000)),
        },
    ),
    "dashboard": (
        "dashboard",
        {
            "url": ("url", readers.web_address),
            "address": ("address", readers.text),
            "port": ("port", readers.count(1, 65535)),
            "mode": ("mode", readers.one_of("local", "oidc", "proxy")),
            "operator": ("operator", readers.text),
            "queue_page": ("queue_page", readers.count(1, 500)),
        },
    ),
    "sign_in": (
        "sign_in",
        {
            "metadata_url": ("metadata_url", readers.web_address_or_none),
            "client_id": ("client_id", readers.text_or_none),
            "scopes": ("scopes", readers.text),
            "groups_claim": ("groups_claim", readers.text),
            "session_hours": ("session", readers.duration("hours", low=0.1)),
            "user_header": ("user_header", readers.header_name),
            "groups_header": ("groups_header", readers.header_name),
            "secret_header": ("secret_header", readers.header_name),
            "groups": ("groups", readers.roles_of("group")),
            "people": ("people", readers.roles_of("email")),
        },
    ),
    "four_eyes": (None, {"amounts": ("four_eyes", readers.amounts)}),
    "guard": (
        "guard",
        {
            "deadline_seconds": ("deadline_seconds", _TIMEOUT),
            "send_timeout_seconds": ("send_timeout_seconds", _TIMEOUT),
            "lease_seconds": ("lease", readers.duration("seconds", low=1)),
            "absent_after_seconds": ("absent_after", readers.duration("seconds", low=1)),
            "resend_within_hours": ("resend_within", readers.duration("hours")),
            "settle_limit": ("settle_limit", readers.count(1, 10_000)),
        },
    ),
    "alarms": (
        None,
        {
            "surge_limit": ("surge_limit", readers.count(1, 1_000_000)),
            "stale_after_minutes": ("stale_after", readers.duration("minutes", low=1)),
        },
    ),
    "pulse": (
        None,
        {
            "heartbeat_timeout_seconds": ("heartbeat_timeout_seconds", _TIMEOUT),
            "metrics_textfile": ("metrics_textfile", readers.metrics_file_or_none),
            "metrics_address": ("metrics_address", readers.text),
            "metrics_port": ("metrics_port", readers.count(0, 65535)),
        },
    ),
    "intents": (
        "intents",
        {
            "table": ("table", readers.table_name),
            **{key: (key, readers.as_it_is) for key in mapping_toml.SECTIONS},
        },
    ),
}
