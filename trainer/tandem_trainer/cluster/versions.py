"""Versions that the nodes of a cluster must share: Python, its packages and this package.

Ray carries `versions` to a node by value, because the node may lack this package: it uses the standard library only.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

from ..fault import Fault
from ..run.interpreter import PACKAGES, RAY, release, requirement

MIN_VERSIONS = {**RAY, **PACKAGES}
SAME = ("ray", "torch")  # packages by which processes speak with each other


def versions() -> dict[str, Any]:
    """Returns the versions of the Python that executes this; nothing is imported.

    python, prefix: version and folder. packages: None for a missing one. trainer: folder and SHA-256 of this package's
    files; None when it is missing.
    """
    packages: dict[str, str | None] = {}
    for name in MIN_VERSIONS:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = None
    found = util.find_spec("tandem_trainer")
    trainer = None
    if found is not None and found.submodule_search_locations:
        folder = Path(next(iter(found.submodule_search_locations)))
        digest = hashlib.sha256()
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in sorted(path for path in files if path.name != "README.md"):  # an installed package has none
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
        trainer = {"folder": str(folder), "digest": digest.hexdigest()}
    return {"python": platform.python_version(), "prefix": sys.prefix, "packages": packages, "trainer": trainer}


@dataclass(frozen=True)
class Difference:
    """A run that would meet it `breaks`, or else may go well."""

    saw: str
    remedy: str
    breaks: bool = True


def differences(node: str, there: dict[str, Any], here: dict[str, Any]) -> list[Difference]:
    """The most important difference comes first. there, here: from `versions`."""
    found = []
    start = f"Start Ray on {node} with {here['prefix']}/bin/ray."
    if there["python"] != here["python"]:
        # Ray itself refuses another patch level, unless it was told not to.
        breaks = release(there["python"])[:2] != release(here["python"])[:2]
        saw = f"Python {there['python']} in {there['prefix']}, but the run has Python {here['python']}"
        found.append(Difference(saw, start, breaks))
    for name, least in MIN_VERSIONS.items():
        got, wanted = _public(there["packages"][name]), _public(here["packages"][name])
        there_too = f"in {there['prefix']}"
        if got is None:
            found.append(Difference(f"no {name} {there_too}", _install(node, there, name, least, wanted)))
        elif release(got) < release(least):
            saw = f"{name} {got} {there_too}, but at least {least} is needed"
            found.append(Difference(saw, _install(node, there, name, least, wanted)))
        elif got != wanted:
            saw = f"{name} {got} {there_too}, but the run has {name} {wanted}"
            found.append(Difference(saw, _install(node, there, name, least, wanted), breaks=name in SAME))
    trainer, wanted = there["trainer"], here["trainer"]
    if trainer is None:
        saw = f"no package tandem_trainer; the run has it in {wanted['folder']}"
        found.append(Difference(saw, f"Make that folder visible on {node}, or copy it there under the same path."))
    elif trainer["digest"] != wanted["digest"]:
        saw = f"another version of the trainer in {trainer['folder']} than the run has in {wanted['folder']}"
        found.append(Difference(saw, f"Copy the run's to {node}, or give both the same folder."))
    if not found and there["prefix"] != here["prefix"]:
        saw = f"its Python is in {there['prefix']}, that of the run in {here['prefix']}, with the same versions"
        found.append(Difference(saw, f"{start} Then they stay the same.", breaks=False))
    return found


def require_same(node: str, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Errors: Fault, for the most important difference that would break the run."""
    for difference in differences(node, there, here):
        if difference.breaks:
            raise Fault(f"The node {node} has {difference.saw}. {difference.remedy}", usage=True)


def _public(version: str | None) -> str | None:
    """Removes the name of the build: the head may have a torch without CUDA (`2.13.0+cpu`)."""
    return None if version is None else version.split("+")[0]


def _install(node: str, there: dict[str, Any], name: str, least: str, wanted: str | None) -> str:
    what = requirement(name, least) if wanted is None else requirement(name, least).replace(f">={least}", f"=={wanted}")
    return f"Run `{there['prefix']}/bin/python -m pip install '{what}'` on {node}, then start Ray there again."
