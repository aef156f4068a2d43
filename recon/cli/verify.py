"""`recon verify`: whether the audit trail is as it was written."""

import typer

from recon.cli import exits
from recon.model.characters import harmless

SHOWN = 20  # Sentences: one broken chain is enough to ask why; the count says how many there are.


def verify() -> None:
    """Check every chain of entries, and that they explain how each case stands; exit 1 when one does not."""
    from recon.doors import config
    from recon.doors.store import cases, revisions
    from recon.doors.store.engines import Database
    from recon.rules import stories

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        revisions.check(database)
        wrong = list(cases.verify(database))
        named = {sentence.partition(":")[0] for sentence in wrong}
        told = (stories.unexplained(*each) for each in cases.stories(database, but=named))
        wrong += [sentence for sentence in told if sentence]
        sealed = cases.sealed(database)
    for sentence in wrong[:SHOWN]:
        print(harmless(sentence))  # It names what stands in the tables, whoever put it there.
    if len(wrong) > SHOWN:
        print(f"And {len(wrong) - SHOWN} more.")
    if wrong:
        raise typer.Exit(exits.FOUND)
    print("Every chain of entries fits, and every case stands as its entries tell.")
    if sealed.run_id is None:
        print(f"No run has sealed an entry yet: the {sealed.newer} there are can be cut off unseen.")
        return
    print(f"Sealed by run {sealed.run_id} as {sealed.digest}; keep that elsewhere to compare it later.")
    if sealed.newer:
        print(f"Entries since then, which the next run seals: {sealed.newer}.")
