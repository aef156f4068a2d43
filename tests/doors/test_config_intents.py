from recon.model.mapping import Column, Side
from recon.model.settings import IntentsMapping, build


def test_a_mapping_of_somebody_elses_table_is_read_whole() -> None:
    columns = {"key": "id", "amount_minor": "sum", "status": "state", "created_at": "created"}
    told = {
        "table": "shop.refunds",
        "amount_unit": "major",
        "columns": columns,
        "statuses": {"ok": "done"},
        "constants": {"currency": "usd", "account": ""},
    }

    side = Side(
        {
            "key": Column(("id",)),
            "amount": Column(("sum",)),
            "status": Column(("state",), words={"ok": "done"}),
            "created_at": Column(("created",)),
            "currency": Column(missing="usd"),
            "account": Column(missing=""),
        }
    )
    assert build({"intents": told}).intents == IntentsMapping("shop.refunds", side)
