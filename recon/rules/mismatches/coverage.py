"""What was not read, and what a rejected row touches: the parts of the frames that must not be judged."""

from collections.abc import Iterable
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import Links
from recon.model.records.results import Coverage, Reject
from recon.model.records.words import AccountId

ALWAYS, NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def since_intents(intents: pd.DataFrame, links: Links, coverage: Coverage, as_of: datetime) -> Bools:
    """Return per intent whether every refund of its account since its creation, up to as_of, was read."""
    created = arrays.times(intents["created_at"])
    return created >= _refunds_from(links, coverage, as_of, otherwise=NEVER)[links.intent_account]


def outside_intents(links: Links, coverage: Coverage, as_of: datetime) -> Ints:
    """Return per intent the time before which what happened is outside; ALWAYS where nothing is."""
    if not coverage.older_is_outside:
        return np.full(len(links.intent_account), ALWAYS, np.int64)
    return _refunds_from(links, coverage, as_of, otherwise=ALWAYS)[links.intent_account]


def _refunds_from(links: Links, coverage: Coverage, as_of: datetime, *, otherwise: int) -> Ints:
    """Return per account from when its refunds were read up to as_of; `otherwise` where not all were."""
    from_at = np.full(len(links.accounts), otherwise, np.int64)
    for place, account in enumerate(links.accounts.to_pylist()):
        reading = coverage.refunds.get(AccountId(account), coverage.default_refunds)
        if reading.complete and (reading.to_at is None or reading.to_at >= as_of):
            from_at[place] = ALWAYS if reading.from_at is None else arrays.time(reading.from_at)
    return from_at


def until_refunds(refunds: pd.DataFrame, links: Links, coverage: Coverage) -> tuple[Bools, Bools]:
    """Return per refund whether every intent of its account until then was read, and whether it is outside.

    Outside is a refund older than the intents that were read, where coverage says so.
    """
    created = arrays.times(refunds["created_at"])
    from_at = np.full(len(links.accounts), NEVER, np.int64)
    to_at = np.full(len(links.accounts), ALWAYS, np.int64)
    for place, account in enumerate(links.accounts.to_pylist()):
        reading = coverage.intents.get(AccountId(account), coverage.default_intents)
        if reading.complete:
            from_at[place] = ALWAYS if reading.from_at is None else arrays.time(reading.from_at)
            to_at[place] = NEVER if reading.to_at is None else arrays.time(reading.to_at)
    old, late = created < from_at[links.refund_account], created > to_at[links.refund_account]
    whole = (from_at != NEVER)[links.refund_account]
    return ~old & ~late, old & whole & coverage.older_is_outside


def incomplete(coverage: Coverage) -> tuple[str, ...]:
    """Return one sentence per side and account that was not read completely."""
    sides = (
        ("refunds", coverage.default_refunds, coverage.refunds),
        ("intents", coverage.default_intents, coverage.intents),
    )
    sentences = []
    for side, default, by_account in sides:
        if not default.complete:
            sentences.append(f"Not all {side} were read.")
        sentences += [
            _sentence(side, account)
            for account, reading in sorted(by_account.items())
            if not reading.complete
        ]
    return tuple(sentences)


def _sentence(side: str, account: AccountId) -> str:
    return f"Not all {side} of {f'account {account}' if account else 'the platform account'} were read."


def touched_intents(intents: pd.DataFrame, links: Links, rejects: Iterable[Reject]) -> Bools:
    """Return per intent whether a rejected refund names it by any key, or is the refund that it recorded."""
    rejects = tuple(rejects)
    named = _match(
        [(reject.account, name) for reject in rejects for name in reject.names],
        arrays.strings(intents["key"]),
        links.intent_account,
        links.accounts,
    )
    naming = _match(_ids(rejects), arrays.strings(intents["refund_id"]), links.intent_account, links.accounts)
    return named | naming


def touched_refunds(refunds: pd.DataFrame, links: Links, rejects: Iterable[Reject]) -> Bools:
    """Return per refund whether any of its keys is a rejected intent's, or a rejected intent names it."""
    rejects = tuple(rejects)
    touched = _match(
        [(reject.account, name) for reject in rejects for name in reject.names],
        arrays.strings(refunds["id"]),
        links.refund_account,
        links.accounts,
    )
    for column in ("operator_key", "intent_key", "request_key"):
        names = arrays.strings(refunds[column])
        touched |= _match(_ids(rejects), names, links.refund_account, links.accounts)
    return touched


def _ids(rejects: Iterable[Reject]) -> list[tuple[AccountId, str]]:
    return [(reject.account, reject.id) for reject in rejects if reject.id is not None]


def _match(wanted: list[tuple[AccountId, str]], names: pa.Array, accounts: Ints, known: pa.Array) -> Bools:
    """Return which names, each of its account, are among the wanted pairs."""
    if not wanted or len(names) == 0:
        return np.zeros(len(names), bool)
    unique = sorted(set(wanted))
    wanted_names = pa.array([name for _, name in unique], pa.large_string())
    wanted_accounts = arrays.find(pa.array([account for account, _ in unique], pa.large_string()), known)
    usable = wanted_accounts != ABSENT
    found = arrays.find_within(
        names, accounts, wanted_names.filter(pa.array(usable)), wanted_accounts[usable]
    )
    return np.asarray(found != ABSENT)
