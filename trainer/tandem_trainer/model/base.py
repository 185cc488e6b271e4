"""The base model and its trainable weights: adapters for critic and policy on one frozen base, or the whole model.

With LoRA and QLoRA the reference is the base with adapters disabled, and costs no memory. Full fine-tuning has room
for one set of weights: those of critic, policy and base that are not in use are on the disk. Several processes hold one
model together (`fsdp.py`).

Precision: adapters have the base's own dtype (bfloat16 over a bfloat16 or 4-bit base), because float32 adapters would
make a float32 copy of every layer's input, which is most of the memory of a step. The optimiser (`adam.py`) keeps
float32 originals, in which gradients are summed and steps that are too small for bfloat16 are applied.
"""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.nn import Parameter
from transformers import PreTrainedTokenizerBase

from ..config import ModelConfig
from ..fault import Fault, UsageFault
from ..turn import Turn
from .attention import attending, obstacle
from .folder import find_model, load_tokenizer, quiet
from .fsdp import everywhere, gathered, part_of, shard, spread
from .load import choose_device, choose_dtype, load_model, skeleton
from .log_probs import causal_of, decoder_of, token_log_probs
from .memory import room

Name = Literal["critic", "policy"]
MAX_MEMORY_FRACTION = 0.6  # fraction of the free memory that the whole model may take while turns are sampled from it
BITS = {2: torch.int16, 4: torch.int32}  # integer type of the same size, by bytes of a weight


class Base:
    """The loaded base; see `load_base`.

    model:            the callable model: with LoRA the base wrapped by PEFT, else the model itself.
    stop_ids:         ids of the tokens that end a turn.
    shares_prefixes:  whether common prefixes can be computed once; `token_log_probs` respects it.
    notice:           a sentence for the user when they cannot.
    folder:           the folder of its files; for a base on the hub, the download at one commit.
    live:             the adapter that is in use and trainable.
    mesh:             the processes that hold the model together; None for one.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        config: ModelConfig,
        folder: Path,
        weights: "Weights | None",
        mesh: DeviceMesh | None = None,
    ):
        self.model = model
        self.mesh = mesh
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
        if reason and _differs(model):
            raise UsageFault(
                f"The architecture of {config.base} ({type(decoder).__name__}) gives other logits than this "
                "trainer computes from its hidden states: take a model of another family."
            )
        again = f"Common prefixes of this model are computed for each turn again, which is slow: {reason}."
        self.notice = again if reason else None

    def adapter(self, name: Name) -> AbstractContextManager[None]:
        """`name` is live and trainable at once; leaving the returned context restores the previous adapter."""
        within = ExitStack()
        within.callback(self._switch, self.live)
        self._switch(name)
        return within

    @contextmanager
    def reference(self) -> Iterator[None]:
        """The model is exactly the base inside the context. With full fine-tuning nothing may be trained inside."""
        if self._weights is None:
            with self.model.disable_adapter():
                yield
        else:
            with self._weights.original():
                yield

    @property
    def is_first(self) -> bool:
        return self.mesh is None or self.mesh.get_local_rank() == 0

    @contextmanager
    def whole_if_it_fits(self) -> Iterator[bool]:
        """Holds the whole model in each process inside the context, if all have the memory.

        Yields whether processes are then free to make passes of their own. Otherwise they must go in step.
        """
        if self.mesh is None or not self.fits_whole():
            yield self.mesh is None
            return
        with gathered(causal_of(self.model)):
            yield True

    def fits_whole(self) -> bool:
        if self.mesh is None:
            return True
        weights = sum(weight.numel() * weight.element_size() for weight in self.model.parameters())
        free = room(self.device) / (1 if self.device.type == "cuda" else self.mesh.size())
        return everywhere(weights < MAX_MEMORY_FRACTION * free, self.mesh)

    def trainable(self) -> list[tuple[str, Parameter]]:
        """The weights of the live adapter, or all."""
        return [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]

    def state(self) -> dict[str, Tensor]:
        return {name: weight.detach() for name, weight in self.trainable()}

    def checkpoint_activations(self, on: bool) -> None:
        self.is_checkpointed = on
        inner = causal_of(self.model)
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
    """Weights of full fine-tuning: one set in memory, the others in a folder that is deleted when the process ends.

    Each of several processes keeps its own parts. restore: overwrites the weights in memory with those of the base.
    """

    def __init__(self, model: nn.Module, run_folder: Path, restore: Callable[[], None], mesh: DeviceMesh | None):
        self.model, self.restore, self.mesh = model, restore, mesh
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
        if self._is_base():
            yield
            return
        self._put_away()
        self._restore()
        try:
            yield
        finally:
            self._fetch()

    def _is_base(self) -> bool:
        return everywhere(self._fingerprint() == self.untouched, self.mesh)

    def _fingerprint(self) -> list[int]:
        """Sums the bits of each weight. Tensor versions are not enough: fused optimisers do not increment them."""
        sums = [part.detach().view(BITS[part.element_size()]).sum(dtype=torch.int64) for _, part in self._parts()]
        return torch.stack(sums).tolist()

    def _put_away(self) -> None:
        """Writes the live weights to their file, unless they are the base's."""
        if self._is_base():
            return
        file = self.folder / f"{self.live}.safetensors"
        try:
            save_file({name: part.detach().contiguous() for name, part in self._parts()}, file)
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
                for name, part in self._parts():
                    part.copy_(tensors.get_tensor(name))
        elif not self._is_base():
            self._restore()

    def _restore(self) -> None:
        self.restore()
        self.untouched = self._fingerprint()

    def _parts(self) -> Iterator[tuple[str, Tensor]]:
        """Of several processes each has its parts of the weights."""
        return ((name, part_of(weight)) for name, weight in self.model.named_parameters())


def load_base(config: ModelConfig, *, run_folder: Path | str, seed: int = 0, mesh: DeviceMesh | None = None) -> Base:
    """Loads model and tokenizer and adds the adapters. Their B is zero, so critic and policy initially equal the base.

    run_folder: root of the configuration's relative paths; full fine-tuning keeps weights in it.
    seed:       seed of the adapters' A matrices.
    mesh:       the processes that hold the model together; the first reads it and sends the others their parts.
    Errors: Fault for a folder without a model, damaged or incomplete files, a tokenizer without chat template, a
    missing device, QLoRA without its requirements.
    """
    quiet()
    run_folder = Path(run_folder)
    device = choose_device(config.device)
    dtype = choose_dtype(config.dtype, device)
    folder = find_model(config, run_folder)
    tokenizer = load_tokenizer(config, folder, run_folder)
    is_spread = mesh is not None and config.training != "qlora"  # weights of 4 bits are whole in every process

    def read() -> nn.Module | None:
        is_first = mesh is None or mesh.get_local_rank() == 0
        return load_model(config, folder, torch.device("cpu"), dtype) if is_first else None

    def adapted(model: nn.Module) -> nn.Module:
        if config.training == "full":
            return model
        from .adapters import with_adapters  # takes a second, and full fine-tuning does not need it

        return with_adapters(model, config, dtype, seed)

    source = None
    if is_spread:
        source = read()
        with torch.device("meta"):
            model = adapted(skeleton(folder, dtype))
    else:
        model = adapted(load_model(config, folder, device, dtype))
    if mesh is not None:
        shard(causal_of(model), decoder_of(model), mesh)
    if is_spread:
        spread(model, source and adapted(source), mesh)
    model.train()
    weights = None
    if config.training == "full":
        weights = Weights(model, run_folder, lambda: spread(model, read(), mesh), mesh)
    return Base(model, tokenizer, config, folder, weights, mesh)


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
    """End tokens of the generation settings (several in Llama 3 and Gemma) and of the tokenizer."""
    given = model.generation_config.eos_token_id
    ids = given if isinstance(given, list) else [given]
    return frozenset(token for token in (*ids, tokenizer.eos_token_id) if token is not None)


def _checkpointing(decoder: nn.Module) -> dict:
    """The second forward pass must attend as the first did."""

    def contexts() -> tuple[AbstractContextManager, AbstractContextManager]:
        return nullcontext(), attending(decoder, decoder.config._attn_implementation)

    return {"use_reentrant": False, "preserve_rng_state": False, "context_fn": contexts}
