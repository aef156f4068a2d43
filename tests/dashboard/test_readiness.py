import gc
from importlib import import_module
from pathlib import Path

import pytest

import dashboard
from dashboard import readiness
from tests.loops import alone


def test_what_the_pages_import_is_loaded_without_a_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def noted(name: str) -> object:
        loaded.append(name.removeprefix("dashboard."))
        return import_module(name)

    async def frozen() -> int:
        async with readiness.ready(None):
            pass
        return gc.get_freeze_count()

    monkeypatch.setattr(readiness, "import_module", noted)
    try:
        number = alone(frozen())
    finally:
        gc.unfreeze()

    there = {file.stem for file in Path(dashboard.__file__ or "").parent.glob("*.py")}
    assert {*loaded} == there - {"__init__", "app", "served"}
    assert number > 10_000  # Of what was loaded, nothing is looked through for garbage again.
