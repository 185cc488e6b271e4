"""The base model and its trainable weights: adapters for critic and policy on one frozen base, or the whole model.

With LoRA and QLoRA the reference is the base with adapters disabled, and costs no memory. Full fine-tuning has room
for one set of weights: those of critic, policy and base that are not in use are on the disk.

Precision: adapters have the base's own dtype (bfloat16 over a bfloat16 or 4-bit base), because float32 adapters would
make a float32 copy of every layer's input, which is most of the memory of a step. The optimiser (`adam.py`) keeps
float32 originals, in which gradients are summed and steps that are too small for bfloat16 are applied.
"""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import Parameter
from transformers import PreTrainedTokenizerBase

from ..config import ModelConfig
from ..fault import Fault
from ..turn import Turn
from .attention import attending, obstacle
from .folder import find_model, load_tokenizer, quiet
from .load import choose_device, choose_dtype, load_model
from .log_probs import decoder_of, token_log_probs

Name = Literal["critic", "policy"]
BITS = {2: torch.int16, 4: torch.int32}  # integer type of the same size, by bytes of a weight


class Base:
    """The loaded base; see `load_base`.

    model:            the callable model: with LoRA the base wrapped by PEFT, else the model itself.
    stop_ids:         ids of the tokens that end a turn.
    shares_prefixes:  whether common prefixes can be computed once; `token_log_probs` respects it.
    notice:           a sentence for the user when they cannot.
    folder:           the folder of its files; for a base on the hub, the download at one commit.
    live:             the adapter that is in use and trainable.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        config: ModelConfig,
        folder: Path,
        weights: "Weights | None",
    ):
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        self.folder = folder
        self.device: torch.device = model.get_input_embeddings().weight.device
        self.dtype: torch.dtype = model.get_input_embeddings().weight.dtype
        self.stop_ids = _stop_ids(model, tokenizer)
        self.live: Name = "policy"
        self.is_checkpointed = False
        self._weights = weights
        decoder = decoder_of(model)
        reason = obstacle(decoder) or _differs(model)
        decoder.shares_prefixes = self.shares_prefixes = reason is None
        self.notice = None
        if reason:
            self.notice = f"Common prefixes of this model are computed for each turn again, which is slow: {reason}."
            if _differs(model):
                raise Fault(
                    f"The architecture of {config.base} ({type(decoder).__name__}) gives other logits than this "
                    "trainer computes from its hidden states: take a model of another family.",
                    usage=True,
                )

    def adapter(self, name: Name) -> AbstractContextManager[None]:
        """Makes adapter `name` live and trainable at once; leaving the returned context restores the previous one."""
        before = self.live
        self._switch(name)
        return _leaving(lambda: self._switch(before))

    @contextmanager
    def reference(self) -> Iterator[None]:
        """Makes the model the exact base inside the context. With full fine-tuning nothing may be trained inside."""
        if self._weights is None:
            with self.model.disable_adapter():
                yield
        else:
            with self._weights.original():
                yield

    def trainable(self) -> list[tuple[str, Parameter]]:
        """Returns the weights that an optimiser changes: those of the live adapter, or all."""
        return [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]

    def state(self) -> dict[str, Tensor]:
        """Returns the weights of `trainable` by name, not copied."""
        return {name: weight.detach() for name, weight in self.trainable()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Overwrites the weights of `trainable` with the result of `state` in another process."""
        trainable = dict(self.trainable())
        if trainable.keys() != state.keys():
            raise Fault(
                f"The saved weights do not fit the {self.live} of {self.config.base}: "
                "model settings were changed since the run began; change them back or start a new run.",
                usage=True,
            )
        with torch.no_grad():
            for name, weight in trainable.items():
                weight.copy_(state[name])

    def checkpoint_activations(self, on: bool) -> None:
        """Sets whether the backward pass recomputes the activations of each layer instead of keeping them."""
        self.is_checkpointed = on
        inner = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        # Newer transformers calls it activation checkpointing.
        newer = hasattr(inner, "activation_checkpointing_enable")
        if on:
            enable = inner.activation_checkpointing_enable if newer else inner.gradient_checkpointing_enable
            enable(_checkpointing(decoder_of(self.model)))
            inner.disable_input_require_grads()  # only reentrant checkpoints need it, and it costs a layer's gradient
        else:
            (inner.activation_checkpointing_disable if newer else inner.gradient_checkpointing_disable)()
        self.model.train()  # layers checkpoint only in training mode; there is no dropout

    def _switch(self, name: Name) -> None:
        if self._weights is None:
            self.model.set_adapter(name)
        else:
            self._weights.switch(name)
        self.live = name


class Weights:
    """Weights of full fine-tuning: one set in memory, the others in a folder that is deleted when the process ends."""

    def __init__(self, model: nn.Module, run_folder: Path, read_base: Callable[[], dict[str, Tensor]]):
        self.model = model
        self.read_base = read_base
        self.folder = Path(tempfile.mkdtemp(prefix="weights-", dir=run_folder))
        self._gone = weakref.finalize(self, shutil.rmtree, self.folder, True)
        self.live: str = "policy"
        self.untouched = self._fingerprint()  # while the fingerprint equals this, the weights in memory are the base's

    def switch(self, name: str) -> None:
        """Loads the weights of `name` into memory; initially they are the base's."""
        if name == self.live:
            return
        self._put_away()
        self.live = name
        self._fetch()

    @contextmanager
    def original(self) -> Iterator[None]:
        """Loads the base's weights into memory inside the context."""
        if self._fingerprint() == self.untouched:
            yield
            return
        self._put_away()
        self._fill(self.read_base())
        self.untouched = self._fingerprint()
        try:
            yield
        finally:
            self._fetch()

    def _fingerprint(self) -> list[int]:
        """Sums the bits of each weight. Tensor versions are not enough: fused optimisers do not increment them."""
        sums = [
            weight.detach().view(BITS[weight.element_size()]).sum(dtype=torch.int64)
            for weight in self.model.parameters()
        ]
        return torch.stack(sums).tolist()

    def _put_away(self) -> None:
        """Writes the live weights to their file, unless they are the base's."""
        if self._fingerprint() == self.untouched:
            return
        file = self.folder / f"{self.live}.safetensors"
        try:
            save_file({name: weight.detach().contiguous() for name, weight in self.model.named_parameters()}, file)
        except (OSError, SafetensorError) as error:
            file.unlink(missing_ok=True)
            raise Fault(
                f"The weights of the {self.live} cannot be kept in {self.folder} ({error}): make room for another "
                "copy of the model, or set model.training to lora."
            ) from error

    def _fetch(self) -> None:
        """Reads the live weights from their file; without one they are the base's."""
        file = self.folder / f"{self.live}.safetensors"
        if file.exists():
            with safe_open(file, framework="pt") as tensors, torch.no_grad():
                for name, weight in self.model.named_parameters():
                    weight.copy_(tensors.get_tensor(name))
        elif self._fingerprint() != self.untouched:
            self._fill(self.read_base())
            self.untouched = self._fingerprint()

    @torch.no_grad()
    def _fill(self, state: dict[str, Tensor]) -> None:
        for name, weight in self.model.named_parameters():
            weight.copy_(state[name])


def load_base(config: ModelConfig, *, run_folder: Path | str, seed: int = 0) -> Base:
    """Loads model and tokenizer and adds the adapters. Their B is zero, so critic and policy initially equal the base.

    run_folder: root of the configuration's relative paths; full fine-tuning keeps weights in it.
    seed:       seed of the adapters' A matrices, the same on every rank.
    Errors: Fault for a folder without a model, damaged or incomplete files, a tokenizer without chat template, a
    missing device, QLoRA without its requirements.
    """
    quiet()
    run_folder = Path(run_folder)
    device = choose_device(config.device)
    dtype = choose_dtype(config.dtype, device)
    folder = find_model(config, run_folder)
    tokenizer = load_tokenizer(config, folder, run_folder)
    model = load_model(config, folder, device, dtype)
    model.train()
    if config.training == "full":

        def read_base() -> dict[str, Tensor]:
            return dict(load_model(config, folder, torch.device("cpu"), dtype).named_parameters())

        return Base(model, tokenizer, config, folder, Weights(model, run_folder, read_base))
    from .adapters import with_adapters  # takes a second, and full fine-tuning does not need it

    return Base(with_adapters(model, config, dtype, seed), tokenizer, config, folder, None)


@torch.no_grad()
def _differs(model: nn.Module) -> str | None:
    """Compares a small forest with the model's own logits, row by row; returns why they differ, or None.

    The tolerance allows for rounding; a token that attends to another row differs by far more.
    """
    size = model.get_input_embeddings().weight.shape[0]
    ids = (np.arange(40) * 7919 % size).astype(np.int32)
    turns = [Turn(ids[:12], ids[12:20]), Turn(ids[:12], ids[20:30]), Turn(ids[30:34], ids[34:40])]
    try:
        ours = token_log_probs(model, turns)
    except NotImplementedError as error:
        return f"it has {error}"
    tolerance = 1e-3 if model.get_input_embeddings().weight.dtype == torch.float32 else 0.3
    for turn, log_probs in zip(turns, ours, strict=True):
        row = torch.from_numpy(np.concatenate([turn.prompt, turn.response])).long().to(log_probs.device)
        logits = model(input_ids=row[None], use_cache=False).logits[0, len(turn.prompt) - 1 : -1].float()
        own = logits.log_softmax(-1).gather(1, row[len(turn.prompt) :, None])[:, 0]
        if not (own - log_probs).abs().mean() <= tolerance:
            return "its layers mix rows that stand in one pack"
    return None


def _stop_ids(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Returns the end tokens of the generation settings (several in Llama 3 and Gemma) and of the tokenizer."""
    given = model.generation_config.eos_token_id
    ids = given if isinstance(given, list) else [given]
    return frozenset(token for token in (*ids, tokenizer.eos_token_id) if token is not None)


def _checkpointing(decoder: nn.Module) -> dict:
    """Returns settings of torch.utils.checkpoint that make the second forward pass attend as the first did."""

    def contexts() -> tuple[AbstractContextManager, AbstractContextManager]:
        return nullcontext(), attending(decoder, decoder.config._attn_implementation)

    return {"use_reentrant": False, "preserve_rng_state": False, "context_fn": contexts}


@contextmanager
def _leaving(back: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    finally:
        back()
