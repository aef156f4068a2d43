from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from recon.model import documents, profiles
from recon.model.errors import ConfigurationError
from recon.model.records.owners import DIGEST_AT, Profile, Step, is_group

HEAD = {"target": "#head"}


def chained(**owners: dict[str, Any]) -> dict[str, Profile]:
    """The owners of these tables, with their chains."""
    document = {"owners": owners}
    return profiles.chained(document, profiles.read(document))


def test_an_owner_is_as_their_table_says() -> None:
    lead = {
        "target": "#leads",
        "group": "S0123456789",
        "zone": "Europe/Berlin",
        "quiet_hours": "22:00-07:00",
        "digest_at": "08:30",
        "escalation": [
            {"after_minutes": 60, "owner": "head"},
            {"after_minutes": 240, "owner": "desk"},
        ],
    }
    found = chained(leads=lead, head=HEAD, desk={"target": "desk@example.com"})

    assert found["leads"] == Profile(
        name="leads",
        target="#leads",
        group="S0123456789",
        zone=ZoneInfo("Europe/Berlin"),
        rest=(time(22), time(7)),
        digest_at=time(8, 30),
        steps=(
            Step(timedelta(minutes=60), "head", "#head"),
            Step(timedelta(minutes=240), "desk", "desk@example.com"),
        ),
    )


def test_what_a_table_leaves_out_has_a_default() -> None:
    assert chained(head=HEAD)["head"] == Profile("head", "#head", None, UTC, None, DIGEST_AT, ())


def test_empty_hours_are_none() -> None:
    quiet = chained(head=HEAD | {"quiet_hours": "", "digest_at": ""})["head"]

    assert (quiet.rest, quiet.digest_at) == (None, None)


def test_a_user_group_that_is_told_is_mentioned() -> None:
    found = chained(ops={"target": "S0123456789"}, more={"target": "S0123456789", "group": "S9"})

    assert [found[name].group for name in ("ops", "more")] == ["S0123456789", "S9"]


@pytest.mark.parametrize(
    "target",
    [
        "#a",
        "#refund-operators",
        "#größe_1",
        "U0BO",
        "W12AB",
        "C0123",
        "G1",
        "D1",
        "S0123",
        "b.o+x@example.com",
    ],
)
def test_a_target_is_a_channel_an_id_or_an_address(target: str) -> None:
    assert chained(a={"target": target})["a"].target == target


@pytest.mark.parametrize(
    "target, expected",
    [
        ("S0123", True),
        ("Sam@example.com", False),
        ("#S0123", False),
        ("S", False),
        ("Sales", False),
        ("", False),
    ],
)
def test_a_user_group_is_told_from_an_address(target: str, *, expected: bool) -> None:
    assert is_group(target) is expected


def test_whoever_has_an_address_with_a_large_s_is_nobodys_group() -> None:
    assert chained(a={"target": "Sam@example.com"})["a"].group is None


@pytest.mark.parametrize(
    "row, told",
    [
        ({}, "target is None"),
        ({"target": "operators"}, "target is 'operators'"),
        ({"target": "#two words"}, "target is '#two words'"),
        ({"target": "#"}, "target is '#'"),
        ({"target": "#a,b"}, "target is '#a,b'"),
        ({"target": "<!channel>"}, "target is '<!channel>'"),
        ({"target": "#<!channel>"}, "target is '#<!channel>'"),
        ({"target": "Cats"}, "target is 'Cats'"),
        ({"target": "a@b@c"}, "target is 'a@b@c'"),
        ({"target": "@bo"}, "target is '@bo'"),
        ({"target": "https://hooks.example/x"}, "target is 'https"),
        (HEAD | {"quiet": "22:00-07:00"}, "unknown key 'quiet'; known are digest_at, "),
        (HEAD | {"group": "support"}, "group is 'support'"),
        (HEAD | {"zone": "Berlin"}, "zone is 'Berlin'"),
        (HEAD | {"zone": "Europe"}, "zone is 'Europe'"),  # A folder of zones.
        (HEAD | {"zone": "../../etc/passwd"}, "zone is '../../etc/passwd'"),
        (HEAD | {"zone": 2}, "zone is 2"),
        (HEAD | {"quiet_hours": "22-7"}, "quiet_hours is '22-7'"),
        (HEAD | {"quiet_hours": "22:00"}, "quiet_hours is '22:00'"),
        (HEAD | {"quiet_hours": "22:00-24:00"}, "quiet_hours is '22:00-24:00'"),
        (HEAD | {"quiet_hours": "22:00-07:60"}, "quiet_hours is '22:00-07:60'"),
        (HEAD | {"quiet_hours": "22:00-07:00-08:00"}, "quiet_hours is '22:00-07:00-08:00'"),
        (HEAD | {"quiet_hours": "07:00-07:00"}, "begins and ends at 07:00"),
        (HEAD | {"digest_at": "9:00"}, "digest_at is '9:00'"),
        (HEAD | {"digest_at": time(9)}, "digest_at is datetime.time(9, 0)"),
        (HEAD | {"escalation": {}}, "escalation must be a list"),
        (HEAD | {"escalation": ["b"]}, "escalation must be a list"),
        (HEAD | {"escalation": [{"after_minutes": n, "owner": "b"} for n in range(1, 12)]}, "10 steps"),
        (HEAD | {"escalation": [{"owner": "b"}]}, "escalation step 1: after_minutes is None"),
        (HEAD | {"escalation": [{"after_minutes": 0, "owner": "b"}]}, "after_minutes is 0"),
        (HEAD | {"escalation": [{"after_minutes": True, "owner": "b"}]}, "after_minutes is True"),
        (HEAD | {"escalation": [{"after_minutes": 44_641, "owner": "b"}]}, "after_minutes is 44641"),
        (HEAD | {"escalation": [{"after_minutes": 60, "to": "b"}]}, "unknown key 'to'"),
        (HEAD | {"escalation": [{"after_minutes": 60, "owner": "a"}]}, "'a' is asked after themselves"),
        (HEAD | {"escalation": [{"after_minutes": 60, "owner": "c"}]}, "'c' is nobody"),
        (
            HEAD | {"escalation": [{"after_minutes": 60, "owner": "b"}, {"after_minutes": 60, "owner": "b"}]},
            "step 2 comes no later than the one before it",
        ),
    ],
)
def test_a_mistake_in_an_owners_table_is_named(row: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        chained(a=row, b=HEAD)

    assert told in str(caught.value)
    assert '[owners."a"]' in str(caught.value)


@pytest.mark.parametrize("name", [" a", "a\nb", "a\u202eb", "x" * 201])
def test_an_owners_name_is_one_line(name: str) -> None:
    with pytest.raises(ConfigurationError, match="a name is one line"):
        chained(**{name: HEAD})


@pytest.mark.parametrize("owners", ["a", ["a"], {"a": "#a"}])
def test_owners_are_tables(owners: object) -> None:
    with pytest.raises(ConfigurationError, match="table"):
        profiles.read({"owners": owners})


@pytest.mark.parametrize(
    "text, line",
    [
        ('[owners.a]\ntarget = "#a"\n\nzone = "x"\n', 4),
        ('[owners.a]\n# none\nzone = "UTC"\n', 1),  # What is not there is said of the table.
        ('[owners.a]\ntarget = "#a"\nescalation = [\n  { after_minutes = 1, owner = "z" },\n]\n', 3),
        ('[owners]\na = { target = "#a" }\nb = { target = "b" }\n', 3),
    ],
)
def test_a_mistake_names_its_line(text: str, line: int) -> None:
    document = documents.read(text, file="owners.toml")
    with pytest.raises(ConfigurationError) as caught:
        profiles.chained(document, profiles.read(document))

    assert str(caught.value).startswith(f"owners.toml, line {line}, [owners.")


@pytest.mark.parametrize(
    "rest, at, expected",
    [
        ((time(22), time(7)), "21:59:59", "21:59:59"),
        ((time(22), time(7)), "22:00:00", "07:00:00"),
        ((time(22), time(7)), "06:59:59", "07:00:00"),
        ((time(22), time(7)), "07:00:00", "07:00:00"),
        ((time(12), time(13)), "12:30:00", "13:00:00"),
        ((time(12), time(13)), "13:00:00", "13:00:00"),
        (None, "03:00:00", "03:00:00"),
    ],
)
def test_an_owner_is_awake_outside_the_quiet_hours_of_their_own_zone(
    rest: tuple[time, time] | None, at: str, expected: str
) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    owner = Profile("a", "#a", zone=berlin, rest=rest)
    now = datetime.fromisoformat(f"2026-03-06T{at}").replace(tzinfo=berlin).astimezone(UTC)
    awake = owner.awake_at(now)

    assert f"{awake.astimezone(berlin):%H:%M:%S}" == expected
    assert timedelta(0) <= awake - now < timedelta(days=1)
