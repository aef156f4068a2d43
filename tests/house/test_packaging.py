"""What is shipped, and that the locks hold what pyproject.toml asks for."""

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house import tree

PROJECT = tomllib.loads((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
PIN = re.compile(r"^([a-z0-9][a-z0-9-]*)==([^ ;\\]+)", re.MULTILINE)


def asked(*groups: list[str]) -> Iterator[Requirement]:
    for text in (text for group in groups for text in group):
        requirement = Requirement(text)
        if requirement.name != PROJECT["project"]["name"]:
            yield requirement


def pins(lock: str) -> dict[str, set[Version]]:
    """The versions a lock allows for each package; several where its markers tell platforms apart."""
    found: dict[str, set[Version]] = {}
    for name, version in PIN.findall((tree.ROOT / lock).read_text(encoding="utf-8")):
        found.setdefault(name, set()).add(Version(version))
    return found


def unmet(requirements: Iterator[Requirement], pinned: dict[str, set[Version]]) -> list[str]:
    return [
        str(requirement)
        for requirement in requirements
        if not any(
            requirement.specifier.contains(v) for v in pinned.get(canonicalize_name(requirement.name), set())
        )
    ]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, timeout=60)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_every_file_of_the_packages_and_config_as_defaults(wheel: zipfile.ZipFile) -> None:
    written = {tree.name(path) for path in tree.files()}
    packages = {name for name in written if name.startswith(("recon/", "jobs/", "dashboard/"))}
    defaults = {
        f"recon/_config/{name.removeprefix('config/')}" for name in written if name.startswith("config/")
    }
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert shipped == packages | defaults
    assert "recon/_config/recon.toml" in shipped


def test_the_wheel_asks_for_the_guard_alone_and_names_the_extras(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read(f"refund_recon-{PROJECT['project']['version']}.dist-info/METADATA").decode()
    base = {
        Requirement(line).name for line in re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata, re.MULTILINE)
    }

    assert base == {"pydantic-settings", "sqlalchemy", "stripe", "structlog"}
    assert set(re.findall(r"^Provides-Extra: (\S+)", metadata, re.MULTILINE)) == set(EXTRAS)


def test_all_is_every_other_extra() -> None:
    (everything,) = EXTRAS["all"]

    assert Requirement(everything).extras == set(EXTRAS) - {"all"}


def test_the_locks_meet_what_the_project_asks() -> None:
    product = [PROJECT["project"]["dependencies"], *EXTRAS.values()]
    development = [PROJECT["dependency-groups"]["dev"], PROJECT["build-system"]["requires"]]

    assert unmet(asked(*product), pins("requirements.lock")) == []
    assert unmet(asked(*product, *development), pins("requirements-dev.lock")) == []


def test_an_unmet_requirement_is_seen() -> None:
    pinned = {"pandas": {Version("3.1.1")}}

    assert unmet(asked(["pandas>=4", "dask", "pandas>=3"]), pinned) == ["pandas>=4", "dask"]


def test_development_has_the_versions_that_are_shipped() -> None:
    shipped, development = pins("requirements.lock"), pins("requirements-dev.lock")

    assert {name: development.get(name) for name in shipped} == shipped


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_hashes_and_no_address(lock: str) -> None:
    entries = re.split(r"^(?=[a-z0-9])", (tree.ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = [entry for entry in entries if entry.strip()]

    assert [entry for entry in entries if not PIN.match(entry) or "--hash=sha256:" not in entry] == []
    assert [entry for entry in entries if "://" in entry] == []
