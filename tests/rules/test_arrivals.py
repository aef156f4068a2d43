from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.people import NAME_LIMIT, Arrival, Operator, Refused, Shut, named
from recon.model.records.words import Actor, Role
from recon.model.settings import Secret, SignInSettings
from recon.rules import arrivals
from tests.builders import NOON

SECRET = "0123456789abcdef0123456789abcdef"
SIGN_IN = SignInSettings(
    people=(("Ana@Example.com", Role.ADMIN), ("bo@example.com", Role.VIEWER)),
    groups=(("leads", Role.APPROVER), ("support", Role.OPERATOR), ("all", Role.VIEWER)),
    proxy_secret=Secret(SECRET),
)
CLAIMS: dict[str, object] = {
    "is_logged_in": True,
    "email": "kim@example.com",
    "email_verified": True,
    "iat": NOON.timestamp(),
    "groups": ["support"],
}
HEADERS = [
    ("host", "desk.example.com"),
    ("X-Recon-Proxy-Secret", SECRET),
    ("X-Forwarded-Email", "kim@example.com"),
    ("X-Forwarded-Groups", "support, all"),
]
KIM = Operator(Actor("kim@example.com"), Role.OPERATOR, since=NOON)
# Whatever a provider's JSON can hold.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def claimed(sign_in: SignInSettings = SIGN_IN, **other: object) -> Operator | Refused:
    return arrivals.by_claims(CLAIMS | other, sign_in, now=NOON)


def lacking(name: str) -> Operator | Refused:
    return arrivals.by_claims({key: CLAIMS[key] for key in CLAIMS if key != name}, SIGN_IN, now=NOON)


def vouched(*more: tuple[str, str], without: str = "", **told: Any) -> Arrival | Refused:  # noqa: ANN401
    headers = [each for each in HEADERS if each[0] != without]
    return arrivals.by_headers([*headers, *more], replace(SIGN_IN, **told), now=NOON)


def why(found: object) -> Shut | None:
    return found.why if isinstance(found, Refused) else None


def test_somebody_of_a_group_comes_in_by_their_verified_address_since_they_signed_in() -> None:
    assert claimed() == KIM


@pytest.mark.parametrize(
    "email, groups, role",
    [
        ("kim@example.com", ["all", "support", "leads"], Role.APPROVER),  # The settings' order, not theirs.
        ("kim@example.com", ["all", "unknown"], Role.VIEWER),
        ("kim@example.com", "support", Role.OPERATOR),  # Some providers write one group as a text.
        ("bo@example.com", ["leads"], Role.VIEWER),  # People come before groups, also downward.
        ("ANA@example.COM", [], Role.ADMIN),
    ],
)
def test_the_first_that_fits_gives_the_role(email: str, groups: object, role: Role) -> None:
    found = claimed(email=email, groups=groups)

    assert isinstance(found, Operator)
    assert (found.name, found.role) == (email.lower(), role)


@pytest.mark.parametrize("groups", [[], ["Support"], ["support "], None, {"support": True}, [["support"]], 7])
def test_whom_nothing_names_does_not_come_in(groups: object) -> None:
    assert claimed(groups=groups) == Refused(
        Shut.NO_ROLE,
        "You are signed in as kim@example.com, and nothing here gives you access: ask whoever runs the desk "
        "to name you or a group of yours under [sign_in] in recon.toml.",
        "kim@example.com",
    )


def test_without_a_claim_of_groups_only_people_come_in() -> None:
    assert why(lacking("groups")) is Shut.NO_ROLE


def test_groups_are_read_from_the_claim_that_the_settings_name() -> None:
    told = replace(SIGN_IN, groups_claim="roles")

    assert why(claimed(told)) is Shut.NO_ROLE
    assert claimed(told, roles=["support"]) == KIM


@pytest.mark.parametrize("verified", [False, None, "true", "True", 1, 1.0, [True], {}])
def test_only_a_verified_address_counts_and_only_true_is_verified(verified: object) -> None:
    assert why(claimed(email_verified=verified)) is Shut.NAMELESS
    assert why(claimed(email="ana@example.com", email_verified=verified)) is Shut.NAMELESS


@pytest.mark.parametrize("missing", ["email", "email_verified"])
def test_who_has_no_verified_address_does_not_come_in_by_a_group(missing: str) -> None:
    assert why(lacking(missing)) is Shut.NAMELESS


@pytest.mark.parametrize(
    "email",
    [
        *("", "ana", "@example.com", "ana@", "a@b@example.com", "ana @example.com", " ana@example.com"),
        *("ana@example.com\n", "ana@example.com\x00", "ana\u200b@example.com", "\u202eana@example.com"),
        *("a" * NAME_LIMIT + "@example.com", None, 7, ["ana@example.com"]),
    ],
)
def test_an_address_that_no_story_can_tell_is_none(email: object) -> None:
    assert why(claimed(email=email, groups=["leads"])) is Shut.NAMELESS


@pytest.mark.parametrize(
    "alike",
    [
        "\u0430na@example.com",  # A Cyrillic a.
        "an\uff41@example.com",  # A wide a.
        "ana@exam\u217dle.com",
        "ana@example\u3002com",  # An ideographic full stop.
        "ana@exampl\u0435.com",
    ],
)
def test_a_letter_that_looks_like_another_is_another_person(alike: str) -> None:
    assert why(claimed(email=alike, groups=[])) is Shut.NO_ROLE


@pytest.mark.parametrize("alike, letter", [("\u212a", "k"), ("\u017f", "s"), ("\u0130", "i")])
def test_what_folds_to_a_letter_is_not_that_letter(alike: str, letter: str) -> None:
    told = replace(SIGN_IN, people=((f"{letter}o@example.com", Role.ADMIN),))

    assert alike.casefold().startswith(letter)
    assert why(claimed(told, email=f"{alike}o@example.com", groups=[])) is Shut.NO_ROLE


@pytest.mark.parametrize("iat", [None, True, "1767225600", [], float("nan"), float("inf"), 10**30, -1, 0])
def test_who_does_not_say_when_they_signed_in_signs_in_again(iat: object) -> None:
    assert why(claimed(iat=iat)) is Shut.ENDED


def test_a_sign_in_of_a_time_to_come_counts_only_as_far_as_clocks_differ() -> None:
    edge = NOON + arrivals.SKEW

    assert claimed(iat=edge.timestamp()) == replace(KIM, since=edge)
    assert why(claimed(iat=(edge + timedelta(seconds=1)).timestamp())) is Shut.ENDED


@pytest.mark.parametrize("told", [{}, {"is_logged_in": False}, {"is_logged_in": "True"}])
def test_nobody_is_signed_in_before_streamlit_says_so(told: dict[str, object]) -> None:
    assert why(arrivals.by_claims(told, SIGN_IN, now=NOON)) is Shut.SIGNED_OUT
    assert why(arrivals.by_claims({**CLAIMS, "is_logged_in": 1}, SIGN_IN, now=NOON)) is Shut.SIGNED_OUT


@given(st.dictionaries(st.sampled_from(sorted(CLAIMS)), JSON))
def test_no_claims_of_any_sort_break_anything_or_let_an_unverified_person_in(odd: dict[str, object]) -> None:
    found = arrivals.by_claims(CLAIMS | odd, SIGN_IN, now=NOON)

    if isinstance(found, Operator):
        told = CLAIMS | odd
        assert (told["is_logged_in"], told["email_verified"], found.name) == (
            True,
            True,
            named(told["email"]),
        )


@given(st.permutations(SIGN_IN.groups), st.lists(st.sampled_from(["leads", "support", "all", "x"])))
def test_of_several_groups_the_first_in_the_settings_gives_the_role(
    order: list[tuple[str, Role]], theirs: list[str]
) -> None:
    told = replace(SIGN_IN, groups=tuple(order), people=())
    expected = next((role for group, role in order if group in theirs), None)

    assert arrivals.role(told, "kim@example.com", theirs) == expected
    assert arrivals.role(told, "kim@example.com", reversed(theirs)) == expected


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_are_one_only_where_they_differ_in_the_case_of_a_to_z(left: str, right: str) -> None:
    if named(left) is not None and named(left) == named(right):
        pairs = list(zip(left, right, strict=True))
        assert all(a == b or (a.isascii() and a.lower() == b.lower()) for a, b in pairs)


def test_the_proxy_vouches_for_somebody_with_their_groups_from_when_they_were_connected() -> None:
    found = vouched()

    assert found == Arrival(Actor("kim@example.com"), ("support", "all"), NOON)
    assert isinstance(found, Arrival)
    assert arrivals.admitted(found, SIGN_IN) == KIM
    assert why(arrivals.admitted(replace(found, groups=()), SIGN_IN)) is Shut.NO_ROLE


def test_a_name_beyond_ascii_is_a_name() -> None:
    found = vouched(("X-Forwarded-Email", "Jörg@Example.com"), without="X-Forwarded-Email")

    assert isinstance(found, Arrival)
    assert found.name == "jörg@example.com"


def test_headers_are_found_in_any_case_and_groups_may_be_missing() -> None:
    headers = [(name.upper(), value) for name, value in HEADERS[:3]]

    found = arrivals.by_headers(headers, SIGN_IN, now=NOON)

    assert found == Arrival(Actor("kim@example.com"), (), NOON)


@pytest.mark.parametrize("name", [name for name, _ in HEADERS[1:]])
@pytest.mark.parametrize("change", [str.upper, lambda name: name.replace("-", "_"), str])
def test_a_second_of_any_of_the_headers_is_refused_however_it_is_written(name: str, change: Any) -> None:  # noqa: ANN401
    value = dict(HEADERS)[name]

    assert why(vouched((change(name), value))) is Shut.UNPROVED


@pytest.mark.parametrize("name", [name for name, _ in HEADERS[1:3]])
def test_neither_the_secret_nor_the_user_may_be_missing_empty_or_written_otherwise(name: str) -> None:
    value = dict(HEADERS)[name]

    assert why(vouched(without=name)) is Shut.UNPROVED
    assert why(vouched((name, ""), without=name)) is Shut.UNPROVED
    assert why(vouched((name.replace("-", "_"), value), without=name)) is Shut.UNPROVED


@pytest.mark.parametrize("secret", [SECRET[:-1], SECRET + "0", SECRET.upper(), f" {SECRET}", "ü" * 32])
def test_a_secret_that_is_nearly_right_is_wrong(secret: str) -> None:
    assert why(vouched((HEADERS[1][0], secret), without=HEADERS[1][0])) is Shut.UNPROVED


def test_without_a_secret_of_ours_nobody_proves_anything() -> None:
    assert why(vouched(proxy_secret=Secret(""))) is Shut.UNPROVED
    assert why(vouched((HEADERS[1][0], ""), without=HEADERS[1][0], proxy_secret=Secret(""))) is Shut.UNPROVED


@pytest.mark.parametrize(
    "user",
    ["x, kim@example.com", "x,kim", "x kim@example.com", "ana@kim@example.com", "@example.com", "kim@"],
)
def test_two_users_in_one_header_are_nobody(user: str) -> None:
    assert why(vouched((HEADERS[2][0], user), without=HEADERS[2][0])) is Shut.UNPROVED


@pytest.mark.parametrize("user", ["kim\nana", "kim\x00", " kim", "k" * (NAME_LIMIT + 1)])
def test_a_user_that_no_story_can_tell_is_nobody(user: str) -> None:
    assert why(vouched((HEADERS[2][0], user), without=HEADERS[2][0])) is Shut.UNPROVED
