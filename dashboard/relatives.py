"""What a case leads to: cases with the same payment, order or customer, and the provider's own pages."""

from datetime import tzinfo
from typing import Final

import streamlit as st

from dashboard import asked, links, safe, tables, times, words
from recon.desk import CaseView
from recon.model import phrases
from recon.model.records.cases import Case

REFUND_LIMIT: Final = 10  # Links in a row; a case with more has its ids in the evidence.


def at_provider(view: CaseView) -> None:
    """Show links to the provider's pages of the payment and the refunds, by their numbers here."""
    payment = view.case.mismatch.payment
    if not payment and not view.refunds:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        mode = "" if view.around.livemode else " (test mode)"
        st.caption(f"At the provider{mode}")
        if payment:
            _outside("Open payment", view.pages.payment(payment))
        for number, refund in enumerate(view.refunds[:REFUND_LIMIT], start=1):
            _outside(f"Open refund {number}", view.pages.refund(refund.id))


def show(view: CaseView, zone: tzinfo) -> None:
    """Show the cases that have to do with this one, those that wait first."""
    st.header("Related cases", anchor=False)
    related = view.around.related
    if not related:
        st.caption("No other case has its payment, order or customer.")
        return
    for case in related:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.page_link(
                "views/case.py",
                label=f"{tables.kind(case)} · {tables.money(case.mismatch.at_risk)}",
                query_params=links.case(case.id),
            )
            st.badge(words.STATES[case.state], icon=":material/flag:", color=words.STATE_COLORS[case.state])
            st.caption(f"{case.id} · {_tie(view.case, case)} · opened {times.moment(case.opened_at, zone)}")
    named = view.case.mismatch.customer_id or view.case.mismatch.order_id or view.case.mismatch.payment
    if view.around.tied > len(related) and named:
        st.page_link(
            "views/queue.py",
            label=f"All {phrases.several(view.around.tied, 'case')} in the queue",
            query_params={"text": safe.line(named), "state": asked.EVERY},
        )


def _tie(case: Case, other: Case) -> str:
    """Return what two cases have in common, in words of ours."""
    mine, theirs = case.mismatch, other.mismatch
    same = {
        "payment": bool(mine.payment) and mine.payment == theirs.payment,
        "order": bool(mine.order_id) and mine.order_id == theirs.order_id,
        "customer": bool(mine.customer_id) and mine.customer_id == theirs.customer_id,
    }
    return f"same {', '.join(name for name, holds in same.items() if holds)}"


def _outside(label: str, address: str) -> None:
    st.link_button(label, address, icon=":material/open_in_new:", type="tertiary")
