from recon.model.records.queues import QueueFilters
from recon.model.records.words import AccountId, CaseState


def test_filters_ask_only_for_what_a_database_can_hold() -> None:
    typed = "a\x00b\ud800"
    filters = QueueFilters(
        states=(CaseState.OPEN,),
        owners=(typed,),
        accounts=(AccountId(typed),),
        person=typed,
        search=typed,
    )

    kept = filters.keepable()

    told = (*kept.owners, *kept.accounts, kept.person, kept.search)
    assert len(set(told)) == 1
    assert not {"\x00", "\ud800"} & {*told[0]}
    assert kept.states == (CaseState.OPEN,)
