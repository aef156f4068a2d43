from datetime import timedelta

from jobs import vitals
from recon.doors.store import cases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import a_lease, a_notice, a_run, opened


def test_the_metrics_say_what_the_database_holds(database: Database) -> None:
    change = opened(a_case(a_mismatch(), opened_at=NOON))
    saving = Saving(a_run(), changes=(change,), notices=(a_notice(created_at=NOON),))
    cases.save_run(database, a_lease(database), saving)

    samples = vitals.samples(database, now=NOON + timedelta(minutes=5))

    values = {sample.name: dict(sample.values) for sample in samples}
    assert values["last_success_timestamp"] == {(): (NOON + timedelta(seconds=9)).timestamp()}
    assert values["open_cases"] == {(("kind", "duplicate"), ("severity", "high")): 1}
    assert values["money_at_risk_minor"] == {(("currency", "usd"), ("kind", "duplicate")): 4900}
    assert values["oldest_open_seconds"] == {(): 300}
    assert values["deliveries"][("state", "waiting"),] == 1
    assert values["delivery_lag_seconds"] == {(): 300}


def test_before_the_first_run_nothing_is_said_of_runs(database: Database) -> None:
    names = {sample.name for sample in vitals.samples(database, now=NOON)}

    assert "last_success_timestamp" not in names
    assert "delivery_lag_seconds" in names
