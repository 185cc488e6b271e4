"""Exports the live model to a Hugging Face folder: merged, checked, and whole or absent."""

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, GenerationConfig, PreTrainedModel

from ..config import RunConfig
from ..data.prompt_file import Prompt
from ..fault import Fault
from ..model.base import Base, Name
from ..model.fsdp import whole
from ..model.memory import available_memory, room
from ..run.disk_space import not_written, whole_folder
from ..turn import Turn
from .critic_file import FILE, VALUE_HEAD, about_critic

SHARD = "5GB"
ROWS, ROW = 4, 256  # number of turns that the check reads, and tokens of each
# Greatest allowed difference between logits of the exported and the live model, relative to their spread, by the type
# of the exported weights. Differences come from rounding and from another order of summation.
TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
NOISY = 0.2  # limit for 16-bit arithmetic

Card = Callable[["Check"], str]
Beside = Callable[[Path], None]


@dataclass(frozen=True)
class Check:
    """Result of loading the exported model again and comparing it.

    difference: between its logits and the live ones; learnt: between the live ones and the base's. Both are root mean
    squares over all tokens and the vocabulary, in units of the live logits' spread. In float32 arithmetic a difference
    of more than half of `learnt` is refused as well. lost, widened: by `merge`.
    """

    dtype: str  # type of the exported weights
    arithmetic: str  # type in which both models were computed
    tokens: int
    difference: float
    tolerance: float
    learnt: float
    lost: float
    widened: bool

    @property
    def sentence(self) -> str:
        text = (
            f"Loaded anew, the exported model ({self.dtype}) gives the logits of the trained one to within "
            f"{self.difference:.1e} of their spread (root mean square over {self.tokens} tokens, {self.arithmetic} "
            f"arithmetic, allowed {self.tolerance:.0e}); training moved them by {self.learnt:.1e}."
        )
        if self.widened:
            return f"{text} Its weights are float32, because 16-bit numbers would have lost what was learnt."
        return f"{text} Rounding took {self.lost:.0%} of the change of the weights." if self.lost > 0.005 else text


def export_model(
    base: Base, name: Name, target: Path, turns: Sequence[Turn], card: Card, beside: Beside | None = None
) -> Check | None:
    """Writes critic or policy, which `base` holds, to the folder `target`; an existing folder is left alone.

    Of several processes all call this, and the first one writes and returns the check. turns: from the data, for the
    check. card: makes README.md from the check. beside: writes more into the folder after the check.
    Errors: Fault when nothing was learnt, the exported model differs from the live one, or the disk is full; the folder
    then does not exist.
    """
    rows = check_rows(turns)
    with base.adapter(name):
        plain = load_plain(base) if base.is_first else None
        changed, lost, widened = merge(plain, base)
        with in_float32(base) as exact:
            live = [logits(base.model, row) for row in rows]
            with base.reference():
                before = [logits(base.model, row) for row in rows]
    learnt = distance(before, live)
    if plain is None:
        return None
    if changed == 0 or learnt == 0:
        raise Fault(
            f"Training changed nothing: the {name} still gives the logits of its base, so there is nothing to export; "
            "raise its learning_rate or its epochs."
        )
    try:
        with whole_folder(target) as folder:
            write_model(plain, base, folder)
            del plain
            check = _compare(folder, base, rows, live, learnt, exact, lost, widened)
            if beside:
                beside(folder)
            (folder / "README.md").write_text(card(check), encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise not_written(f"The {name} cannot be written to {target}", error) from error
    return check


def export_critic(
    base: Base,
    target: Path,
    turns: Sequence[Turn],
    card: Card,
    config: RunConfig,
    prompt: Prompt,
    head: Mapping[str, Tensor] | None = None,
    beside: Beside | None = None,
) -> Check | None:
    """As `export_model`, with `critic.json` and, if there is one, the value head.

    turns: as the critic reads them. prompt: the text in front of them.
    """

    def with_about(folder: Path) -> None:
        write_json(folder / FILE, about_critic(config, base, VALUE_HEAD if head else None, prompt))
        if head:
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in head.items()}, folder / VALUE_HEAD)
        if beside:
            beside(folder)

    return export_model(base, "critic", target, turns, card, with_about)


# ---- the folder


def load_plain(base: Base) -> PreTrainedModel:
    """On the CPU, not quantised. Numbers are those of the training: rounded, when the run's type is another one."""
    plain = AutoModelForCausalLM.from_pretrained(base.folder, dtype="auto")
    if base.dtype not in (plain.dtype, torch.float32):
        for weight in plain.parameters():
            weight.data = weight.data.to(base.dtype).to(weight.dtype)
    return plain


def write_model(plain: PreTrainedModel, base: Base, folder: Path) -> None:
    settings = base.folder / "generation_config.json"
    if settings.exists():
        plain.generation_config = GenerationConfig()  # the models' own often fail the check on writing
    plain.save_pretrained(folder, max_shard_size=SHARD)
    if settings.exists():
        shutil.copyfile(settings, folder / settings.name)
    write_json(folder / "config.json", _configuration(folder, base.folder, plain))
    base.tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod((folder / "config.json").stat().st_mode)  # safetensors writes files that only their owner can read


def _configuration(folder: Path, own: Path, plain: PreTrainedModel) -> dict:
    """Keeps the base's own configuration: other versions' runners miss the rope's parameters in a rewritten one."""
    written, original = (json.loads((at / "config.json").read_text(encoding="utf-8")) for at in (folder, own))
    same = all(written[key] == original.get(key) for key in ("architectures", "model_type"))
    config = original if same else written
    for key in ("_name_or_path", "auto_map", "quantization_config"):
        config.pop(key, None)
    dtype = str(plain.dtype).removeprefix("torch.")
    return {**config, "dtype": dtype, "torch_dtype": dtype}  # newer and older name


def write_json(path: Path, value: Mapping) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


# ---- the check


def check_rows(turns: Sequence[Turn]) -> list[Tensor]:
    """Returns the ends of up to ROWS turns, spread over the data: each (1, n) with n ≤ ROW."""
    step = max(1, len(turns) // ROWS)
    chosen = [torch.cat([torch.from_numpy(turn.prompt), torch.from_numpy(turn.response)]) for turn in turns[::step]]
    return [row[-ROW:].long()[None] for row in chosen[:ROWS]]


@torch.no_grad()
def logits(model: torch.nn.Module, row: Tensor) -> Tensor:
    """Computes the logits of a row, (n, V) float32 on the CPU."""
    device = model.get_input_embeddings().weight.device
    return model(input_ids=row.to(device), use_cache=False).logits[0].float().cpu()


def distance(some: Sequence[Tensor], live: Sequence[Tensor]) -> float:
    """Computes the root mean square difference, in units of the spread of `live` over the vocabulary."""
    apart = sum(float((a - b).square().sum(dtype=torch.float64)) for a, b in zip(some, live, strict=True))
    spread = sum(float((b - b.mean(-1, keepdim=True)).square().sum(dtype=torch.float64)) for b in live)
    return (apart / spread) ** 0.5


@contextmanager
def in_float32(base: Base) -> Iterator[bool]:
    """Makes the live model compute in float32 inside the context, if memory allows; its weights return bit for bit.

    16-bit errors exceed the effect of a short training. Weights in 4 bits or divided among processes stay as they are.
    """
    tensors = [t for t in (*base.model.parameters(), *base.model.buffers()) if t.is_floating_point()]
    kept = [(tensor, tensor.dtype) for tensor in tensors if tensor.dtype != torch.float32]
    more = sum(4 * tensor.numel() for tensor, _ in kept)
    if base.config.training == "qlora" or (kept and base.mesh is not None) or (kept and room(base.device) < 1.1 * more):
        yield False
        return
    try:
        for tensor, _ in kept:
            tensor.data = tensor.data.float()
        yield True
    finally:
        for tensor, dtype in kept:
            tensor.data = tensor.data.to(dtype)


def _compare(
    folder: Path, base: Base, rows, live: Sequence[Tensor], learnt: float, exact: bool, lost: float, widened: bool
) -> Check:
    """Loads the folder as a user would, beside the live model if there is room, else on the CPU."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    dtype = model.dtype
    model.to(torch.float32 if exact else base.dtype)
    if room(base.device) > 1.2 * sum(weight.numel() * weight.element_size() for weight in model.parameters()):
        model.to(base.device)
    tolerance = TOLERANCE[dtype] if exact else NOISY
    difference = distance([logits(model, row) for row in rows], live)
    check = Check(
        dtype=str(dtype).removeprefix("torch."),
        arithmetic=str(model.dtype).removeprefix("torch."),
        tokens=sum(row.shape[1] for row in rows),
        difference=difference,
        tolerance=tolerance,
        learnt=learnt,
        lost=lost,
        widened=widened,
    )
    allowed = min(tolerance, max(learnt / 2, TOLERANCE[torch.float32])) if exact else tolerance
    if not difference <= allowed:  # also refuses NaN
        raise Fault(
            f"The exported model is not the trained one: their logits are {difference:.1e} of their spread apart, and "
            f"{allowed:.0e} is allowed after training moved them by {learnt:.1e}; please report this with the name of "
            "the base."
        )
    return check


# ---- merged weights: W + s·BA (LoRA, arXiv 2106.09685, section 4.1), or the full weights
#
# Neighbouring bfloat16 numbers are 0.4 to 0.8 % apart, and a change by less than half of that is rounded away. A few
# hundred steps at a rate of 2e-6 change weights by less, so rounding the merged weights undoes most of the training
# (measured: nine tenths at B = 1e-4). The rounding loss is computed first; if it is too large the weights become
# float32. QLoRA's adapters were trained on 4-bit weights, so they are merged into the unpacked 4-bit weights, not the
# original.


LOST = 0.25  # greatest fraction of the change that rounding may remove


@torch.no_grad()
def merge(plain: nn.Module | None, base: Base) -> tuple[float, float, bool]:
    """Gives `plain`, the base loaded again on the CPU, the present weights of `base`.

    Returns the norm of the change, the fraction of it that rounding removed, 0 to 1, and whether the weights became
    float32 to keep it. Of several processes only the first has `plain`; the others send their parts. Errors: Fault when
    float32 weights would be needed and the system's memory does not suffice.
    """
    if plain is None:
        for _ in range(2):  # as often as the first process reads them
            for _ in _weights(None, base):
                pass
        return 0.0, 0.0, False
    change = rounded = 0.0  # squares
    for _, value, before in _weights(plain, base):
        change += float((value - before).square().sum(dtype=torch.float64))
        rounded += float((value.to(plain.dtype).float() - value).square().sum(dtype=torch.float64))
    lost = math.sqrt(rounded / change) if change else 0.0
    widened = lost > LOST
    if widened:
        _require_memory(plain, lost)
        plain.float()
        lost = 0.0
    for weight, value, _ in _weights(plain, base):
        weight.copy_(value)
    return math.sqrt(change), lost, widened


def _weights(plain: nn.Module | None, base: Base) -> Iterator[tuple[nn.Parameter, Tensor, Tensor]]:
    """Yields each changed weight of `plain`, its new and its old value (float32, CPU); without `plain` nothing.

    All processes must read it to its end.
    """
    if base.config.training == "full":
        for name, live in base.model.named_parameters():
            now = whole(live)
            if plain is not None:
                weight = plain.get_parameter(name)
                yield weight, now.float().cpu(), weight.to(base.dtype).float()
        return
    from ..model.adapters import adapted  # PEFT is imported already

    for name, module in adapted(base.model):
        a, b = whole(module.lora_A[base.live].weight), whole(module.lora_B[base.live].weight)
        if plain is None:
            continue
        change = (b.float() @ a.float()).cpu() * module.scaling[base.live]
        weight = plain.get_submodule(name).weight
        before = weight.float()
        if base.config.training == "qlora":  # the numbers that 4-bit weights represent in a multiplication
            from bitsandbytes.functional import dequantize_4bit

            before = dequantize_4bit(module.weight.data, module.weight.quant_state).float().cpu()
        yield weight, before + (change.T if module.fan_in_fan_out else change), before


def _require_memory(plain: nn.Module, lost: float) -> None:
    """Passes when the free memory is unknown."""
    free, needed = available_memory(), 4.5 * sum(weight.numel() for weight in plain.parameters())
    if free is not None and free < needed:
        raise Fault(
            f"Rounding to {str(plain.dtype).removeprefix('torch.')} would take {lost:.0%} of what was learnt, and as "
            f"float32 the result needs {needed / 2**30:.1f} GiB of the system's memory, where {free / 2**30:.1f} GiB "
            "are free: free some and start the run again, which then goes on with its export."
        )
