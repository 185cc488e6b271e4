"""Finds the folder of a model, or downloads it, and reads its tokenizer, template and context length.

A base on the hub is downloaded at one commit, into `snapshots/<commit>` of the hub's cache. All other code reads
folders only. Nothing here needs torch, so that `check` works without it.
"""

import errno
import re
import warnings
from dataclasses import replace
from pathlib import Path

import transformers
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import disable_progress_bars
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from ..config import ModelConfig
from ..data.prompt_file import Prompt
from ..data.template import Template
from ..fault import Fault, UsageFault
from ..regular_file import read_text
from .files import called, missing, not_gguf, only_gguf, weight_files
from .folder_check import cannot_load, check_tokenizer, configuration_of, rows_of

# Configuration, tokenizer and chat template; README.md names the license.
ABOUT = ["*.json", "*.jinja", "*.model", "*.tiktoken", "*.txt", "README.md"]
SAFETENSORS, PICKLED = "*.safetensors", "pytorch_model*.bin"
# Other formats of the same weights. A star matches slashes too, so no file of an inner folder is downloaded.
COPIES = ["*/*", "consolidated*"]


def quiet() -> None:
    """Silences progress bars and reports of loading; relevant problems become a Fault."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    disable_progress_bars()
    # PEFT uses a name of transformers that is deprecated.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)
    # torch says that there is one process even where it is told so (`checkpoint.py`).
    warnings.filterwarnings("ignore", message="torch.distributed is disabled, unavailable or uninitialized")


def license_of(folder: Path) -> str | None:
    """Reads such as `apache-2.0` from the header of the model's card."""
    try:
        text = read_text(folder / "README.md")
    except (OSError, UnicodeDecodeError):
        return None
    header = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    found = re.search(r"^license:\s*([\w.-]+)\s*$", header.group(1), re.MULTILINE) if header else None
    return found.group(1) if found else None


def find_model(config: ModelConfig, run_folder: Path, *, weights: bool = True) -> Path:
    """Checks that the folder holds a model; downloads a base on the hub, weights only if wanted. Errors: Fault."""
    folder = _local(config, run_folder)
    if folder is None:
        folder = snapshot(config.base, config.revision, weights=weights)
        if (lack := missing(folder, weights=weights)) is not None:
            if lack == "config.json" and "gguf" in config.base.lower():
                raise UsageFault(
                    f"{config.base} on the hub holds GGUF files, the format of llama.cpp, and no model that "
                    "transformers reads: name the model that they were made from, or download a file and use "
                    "`tandem convert`."
                )
            raise UsageFault(
                f"What was downloaded of {config.base} has no {lack}: it is not a model that transformers reads, or "
                "not all of it came. Connect this machine and try again, or take another."
            )
    elif (lack := missing(folder)) is not None:
        raise UsageFault(
            f"The folder {folder} has no {lack}, which a model needs: check model.base, or download it again."
        )
    return folder


def pinned(config: ModelConfig, run_folder: Path) -> ModelConfig:
    """Resolves `revision` to its current commit, if the base is on the hub."""
    if _local(config, run_folder) is not None:
        return config
    return replace(config, revision=snapshot(config.base, config.revision, weights=False).name)


def _local(config: ModelConfig, run_folder: Path) -> Path | None:
    given = Path(config.base).expanduser()
    if (file := next((gguf for path in (given, run_folder / given) if (gguf := only_gguf(path))), None)) is not None:
        raise UsageFault(f"model.base is {config.base}: {not_gguf(file)}")
    folder = next((path for path in (given, run_folder / given) if path.is_dir()), None)
    if folder is None and (given.is_absolute() or config.base.startswith((".", "~"))):
        raise UsageFault(f"model.base is {config.base}, but there is no such folder.")
    return folder


def load_tokenizer(config: ModelConfig, model: Path, run_folder: Path) -> PreTrainedTokenizerBase:
    """Checks the folder. The chat template is that of the folder `model`, or `config.chat_template`. Errors: Fault."""
    rows = rows_of(model)
    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # transformers and its parsers raise many types for unusable files
        raise cannot_load("tokenizer", model, error) from error
    tokenizer.name_or_path = called(model)
    if config.chat_template is not None:
        file = run_folder / config.chat_template
        try:
            tokenizer.chat_template = read_text(file)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageFault(f"The chat template {file} cannot be read: {error}.") from error
    check_tokenizer(tokenizer, rows, model)
    return tokenizer


def load_template(
    config: ModelConfig, model: Path, run_folder: Path, critic: Prompt | None = None, kind: type[Template] = Template
) -> Template:
    """With its tokenizer, whose tokens all have a row in the model's embedding. Errors: Fault."""
    return kind(load_tokenizer(config, model, run_folder), config.template_options, critic, rows=rows_of(model))


def context_length(model: Path) -> int | None:
    """In tokens; None when the configuration has none. Errors: Fault."""
    return getattr(configuration_of(model).get_text_config(), "max_position_embeddings", None)


def snapshot(name: str, revision: str | None, *, weights: bool) -> Path:
    """Returns the folder with a model's files at the current commit of `revision`; the commit is the folder's name.

    revision: a commit, tag or branch; None for the main branch. weights: safetensors, or where there are none
    PyTorch's. Cached files are not downloaded again, and an unreachable hub is no error when all files are in the
    cache. Errors: Fault, with one sentence for each reason that the hub has.
    """
    if not weights:
        return _downloaded(name, revision, ABOUT)
    folder = _downloaded(name, revision, [*ABOUT, SAFETENSORS])
    return folder if weight_files(folder) else _downloaded(name, folder.name, [*ABOUT, PICKLED])


def _downloaded(name: str, revision: str | None, patterns: list[str]) -> Path:
    # Imported here because it takes half a second, which a model in a folder does not need.
    from huggingface_hub import snapshot_download, try_to_load_from_cache

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns, ignore_patterns=COPIES))
    except LocalEntryNotFoundError as error:
        # The hub is unreachable. Another program may have cached the model without optional files such as README.md.
        kept = try_to_load_from_cache(name, "config.json", revision=revision)
        if isinstance(kept, str) and missing(Path(kept).parent, weights=patterns != ABOUT) is None:
            return Path(kept).parent
        raise hub_fault(name, revision, error) from error
    except Exception as error:  # the hub's client and its connections raise many types
        raise hub_fault(name, revision, error) from error


def hub_fault(name: str, revision: str | None, error: Exception) -> Fault:
    at = "" if revision is None else f" at the revision {revision}"
    sentences = {  # a gated repository is one that is not found, too
        GatedRepoError: f"model.base is {name}, which the hub gives to those alone who agree to its terms: do so on "
        "its page and log in with `hf auth login`, or take another.",
        RepositoryNotFoundError: f"model.base is {name}, but the hub has no such model, or shows it to its owners "
        "alone: check the name, or log in with `hf auth login`.",
        RevisionNotFoundError: f"model.revision is {revision}, but the hub has no such commit, tag or branch of {name}"
        ": check it, or leave it out for the newest.",
        LocalEntryNotFoundError: f"The model {name} is on the hub, which cannot be reached, and it was not downloaded "
        f"before{at}: connect this machine and try again, or take a model that is in a folder.",
    }
    cause: BaseException | None = error
    while cause is not None:
        for kind, sentence in sentences.items():
            if isinstance(cause, kind):
                return UsageFault(sentence)
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return Fault(f"The disk is full while {name} is downloaded: make room and start again.")
        cause = cause.__cause__ or cause.__context__
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return UsageFault(f"The model {name} cannot be downloaded, so check model.base: {reason.rstrip('.')}.")
