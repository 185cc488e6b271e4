"""A base that is a name on the hub: its files at one commit, or one sentence about why they do not come.

What was downloaded is the folder `snapshots/<commit>` of the hub's cache. Everything else reads folders alone.
"""

import errno
from collections.abc import Iterator
from pathlib import Path

from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from ..fault import Fault
from .files import missing, weight_files

# Configuration, tokenizer and chat template; README.md names the license.
ABOUT = ["*.json", "*.jinja", "*.model", "*.tiktoken", "*.txt", "README.md"]
SAFETENSORS, PICKLED = "*.safetensors", "pytorch_model*.bin"
# Other forms of the same weights. A pattern's star stands for slashes as well: no file of an inner folder is read.
COPIES = ["*/*", "consolidated*"]


def snapshot(name: str, revision: str | None, *, weights: bool) -> Path:
    """The folder with the files of a model at the commit that `revision` stands for now; it is called as the commit.

    name: `owner/name`. revision: a commit, tag or branch; None for the main branch. weights: safetensors, or where
    there are none PyTorch's. What is in the cache is not downloaded again, and a hub that cannot be reached is not
    needed when what is asked for is there.
    Errors: Fault, with one sentence for each reason that the hub has.
    """
    if not weights:
        return _downloaded(name, revision, ABOUT)
    folder = _downloaded(name, revision, [*ABOUT, SAFETENSORS])
    return folder if weight_files(folder) else _downloaded(name, folder.name, [*ABOUT, PICKLED])


def _downloaded(name: str, revision: str | None, patterns: list[str]) -> Path:
    # Only here: it takes half a second, which a model in a folder need not spend.
    from huggingface_hub import snapshot_download, try_to_load_from_cache

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns, ignore_patterns=COPIES))
    except LocalEntryNotFoundError as error:
        # The hub cannot be reached. Another program may have left out what no model needs, such as README.md.
        kept = try_to_load_from_cache(name, "config.json", revision=revision)
        if isinstance(kept, str) and missing(Path(kept).parent, weights=patterns != ABOUT) is None:
            return Path(kept).parent
        raise hub_fault(name, revision, error) from error
    except Exception as error:  # whatever the hub's client and its connections raise
        raise hub_fault(name, revision, error) from error


def hub_fault(name: str, revision: str | None, error: Exception) -> Fault:
    """One sentence for the ways in which a download goes wrong."""
    at = "" if revision is None else f" at the revision {revision}"
    for cause in _causes(error):
        if isinstance(cause, GatedRepoError):
            return Fault(
                f"model.base is {name}, which the hub gives to those alone who agree to its terms: do so on its page "
                "and log in with `hf auth login`, or take another.",
                usage=True,
            )
        if isinstance(cause, RepositoryNotFoundError):
            return Fault(
                f"model.base is {name}, but the hub has no such model, or shows it to its owners alone: check the "
                "name, or log in with `hf auth login`.",
                usage=True,
            )
        if isinstance(cause, RevisionNotFoundError):
            return Fault(
                f"model.revision is {revision}, but the hub has no such commit, tag or branch of {name}: check it, or "
                "leave it out for the newest.",
                usage=True,
            )
        if isinstance(cause, LocalEntryNotFoundError):
            return Fault(
                f"The model {name} is on the hub, which cannot be reached, and it was not downloaded before{at}: "
                "connect this machine and try again, or take a model that is in a folder.",
                usage=True,
            )
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return Fault(f"The disk is full while {name} is downloaded: make room and start again.")
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return Fault(f"The model {name} cannot be downloaded, so check model.base: {reason.rstrip('.')}.", usage=True)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
