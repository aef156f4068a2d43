"""What stands in the address: the queue's filters and the case, so that a link shows what its sender saw."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

FILTERS: Final = (
    "state",
    "kind",
    "severity",
    "owner",
    "person",
    "proposed",
    "account",
    "from",
    "before",
    "least",
    "text",
    "view",
)
VALUE_LIMIT: Final = 200  # Characters of one value: an order id and a name fit, a novel is cut.


def chosen(name: str) -> tuple[str, ...]:
    """Return the values of one filter in the address, in its order; empty when it is not there."""
    return tuple(value[:VALUE_LIMIT] for value in st.query_params.get_all(name) if value)


def choose(name: str, values: tuple[str, ...]) -> None:
    """Write one filter into the address, or take it out when there is nothing to say."""
    if values:
        st.query_params[name] = list(values)
    elif name in st.query_params:
        del st.query_params[name]


def filters() -> Mapping[str, tuple[str, ...]]:
    """Return the queue's filters in the address, for a link back to the queue as it was."""
    return {name: values for name in FILTERS if (values := chosen(name))}


def case(case_id: str) -> Mapping[str, tuple[str, ...] | str]:
    """Return the parameters of a link to a case that remembers the queue's filters."""
    return {"case": case_id, **filters()}
