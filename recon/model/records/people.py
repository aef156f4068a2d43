"""Who may use the desk. Never holds a secret: signing in is somebody else's."""

from dataclasses import dataclass

from recon.model.records.words import Actor, Role


@dataclass(frozen=True, slots=True)
class Operator:
    """A person at the desk.

    name: as entries name them. active: False keeps the name for the books and lets them do nothing. slack_id:
    who they are in Slack, and nobody else is; None where they do not answer there.
    """

    name: Actor
    role: Role
    active: bool = True
    slack_id: str | None = None
