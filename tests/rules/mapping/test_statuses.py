from recon.model import meanings
from recon.model.records.maps import Word
from recon.rules.mapping import statuses


def test_words_are_counted_as_a_map_spells_them() -> None:
    found = statuses.words([True, True, "Done ", "Done"], "intents")

    assert found == (Word("true", 2, None), Word("Done", 2, "done"))


def test_each_of_our_words_is_explained_to_whoever_chooses() -> None:
    for side, ours in meanings.OURS.items():
        explained = [part.partition(":")[0].strip() for part in statuses.MEANINGS[side].split(";")]

        assert sorted(explained) == sorted(ours)
