import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.notices import Notice
from recon.model.records.words import AccountId, Action, RefundId
from tests.builders import a_case, a_mismatch, an_owner
from tests.rules.test_notices import KEY, MANNER, a_change, blocks_of, numbered, said, texts_of


def test_212_duplicates_are_one_root_and_a_thread_within_slack_s_limits() -> None:
    cases = [numbered(number) for number in range(1, 213)]
    sent = said(map(a_change, cases))

    assert [notice.verb for notice in sent].count("root") == 1
    assert "212 refunded twice (duplicate)" in sent[0].message.text
    told = [case_id for notice in sent[1:] for case_id in notice.case_ids]
    assert sorted(told) == sorted(case.id for case in cases)
    assert all(case.id in "".join(map(blocks_of, sent[1:])) for case in cases)
    headings = [texts_of(notice)[0] for notice in sent[1:]]
    assert headings == [f"*212 opened, part {number} of 11*" for number in range(1, 12)]
    for notice in sent:
        assert_within_limits(notice)


def assert_within_limits(notice: Notice) -> None:
    blocks = notice.message.blocks
    assert len(notice.message.text) < 4_000
    assert len(blocks) <= 50
    texts = texts_of(notice)
    assert max(map(len, texts)) <= 3_000
    assert all(len(block["text"]["text"]) <= 150 for block in blocks if block["type"] == "header")
    assert sum(map(len, texts)) < 10_000


def test_the_longest_words_that_can_be_still_fit() -> None:
    long = dict.fromkeys(("order_id", "customer_id", "why"), "&<" * 300)
    cases = [
        replace(numbered(number, **long), account=AccountId("&" * 300), owner=an_owner(name="&" * 90))
        for number in range(1, 61)
    ]
    sent = said(map(a_change, cases), manner=replace(MANNER, answers=True))

    for notice in sent:
        assert_within_limits(notice)
    assert all(case.id in "".join(map(blocks_of, sent[1:])) for case in cases)
    assert "more." in sent[1].message.text


# Strangers' words.

NASTY = "<!channel> & co\n*x* ~y~ `z` \u202e\u2066\x00\x1b[31m <https://evil.example|here>"


def test_a_stranger_s_text_cannot_ping_link_or_turn_around() -> None:
    case = a_case(
        a_mismatch(order_id=NASTY, customer_id=NASTY, why=NASTY, refund_ids=(RefundId(NASTY),)),
        owner=an_owner(name=NASTY),
    )
    for notice in said([a_change(case)]):
        everything = notice.message.text + blocks_of(notice)
        assert "<!channel>" not in everything
        assert "<https://evil" not in everything
        assert "&lt;!channel&gt; &amp; co 'x' 'y' 'z'" in everything
        assert not {"\u202e", "\u2066", "\x00", "\x1b"} & set(notice.message.text)
        assert not any(mark in blocks_of(notice) for mark in ("\u202e", "\\u0000", "\\u001b"))


ROWS = st.tuples(st.text(max_size=400), st.text(max_size=3000), st.sampled_from(Action))


@given(st.lists(ROWS, min_size=1, max_size=60))
def test_whatever_strangers_write_every_message_fits_and_escapes(rows: list[tuple[str, str, Action]]) -> None:
    changes = [
        a_change(numbered(number, order_id=order, customer_id=order, why=why), action)
        for number, (order, why, action) in enumerate(rows, start=1)
    ]
    for notice in said(changes, known=[KEY]):
        assert_within_limits(notice)
        for text in [notice.message.text, *texts_of(notice)]:
            ours = re.sub(r"<https://desk\.example/[^<>|]*\|[\w -]+>", "", text)
            bare = ours.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
            assert not set("<>&") & set(bare)
            assert "\u202e" not in text
