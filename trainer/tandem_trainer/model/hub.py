"""What the hub answers instead of a model, in one sentence."""

from collections.abc import Iterator

from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

from ..fault import Fault


def hub_fault(model: str, error: Exception) -> Fault | None:
    """None when it was not the hub that refused. model: the name on the hub."""
    for cause in _causes(error):
        if isinstance(cause, GatedRepoError):
            return Fault(
                f"model.base is {model}, which the hub gives to those alone who agree to its terms: do so on its page "
                "and log in with `hf auth login`, or take another.",
                usage=True,
            )
        if isinstance(cause, RepositoryNotFoundError):
            return Fault(
                f"model.base is {model}, but the hub has no such model, or shows it to its owners alone: check the "
                "name, or log in with `hf auth login`.",
                usage=True,
            )
        if isinstance(cause, LocalEntryNotFoundError):
            return Fault(
                f"The model {model} is on the hub, which cannot be reached, and it was not downloaded before: connect "
                "this machine and try again, or take a model that is in a folder.",
                usage=True,
            )
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
