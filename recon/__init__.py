"""recon: every refund sent once, accounted for, and owned when it is not.

The floor plan; imports go only down, and never to a sibling:

    front    recon.cli, sandbox, jobs, dashboard  what people and schedulers start
    flows    recon.hourly, delivery, watch, desk  the only modules that know an order
    doors    recon.doors                          the only I/O: database, provider, files, Slack, settings
    rules    recon.rules                          pure decisions; time is an argument
    model    recon.model                          nouns: records, frames, tables, money, errors, settings

A refund's walk: row, frame, link, Mismatch, Change of a Case, the same Change with an owner, Notice, one
transaction, Slack.
"""
