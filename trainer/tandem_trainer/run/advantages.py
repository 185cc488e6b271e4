"""Computes the turn advantages that `score` writes; critic and base are in memory one at a time."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from ..config import ModelConfig
from ..data.dialogue import Dialogue, Problem, Read, listed, merge
from ..data.json_rows import BadRow, json_lines
from ..data.prompt_file import Prompt
from ..data.rows import dialogue_of, openings_of, why_none
from ..data.template import Template
from ..data.tokenize_turns import settle
from ..export.critic_file import VALUE_HEAD, CriticFile
from ..fault import UsageFault
from ..model.base import Base
from ..model.folder import find_model, load_template, quiet
from ..model.load import choose_device, choose_dtype, load_model
from ..model.log_probs import last_hidden, token_log_probs
from ..regular_file import read_text, require_regular
from ..turn import Turn
from .budget import TokenBudget, free_memory, in_batches
from .critic_report import turn_gains
from .distributed import Ranks
from .event_file import Events
from .plan import MAX_MICRO_BATCH_TOKENS
from .stop import StopRequest

View = list[tuple[Turn, ...] | None]  # the turns of each dialogue; None where the hidden information is missing


def score_files(
    critic: CriticFile, folder: Path, trajectories: Sequence[Path], reference: Path, device: str, *, with_tokens: bool
) -> list[dict]:
    """Returns the rows that `score.py` writes. folder: the critic's. reference: the folder of its base."""
    quiet()
    options = critic.template_options
    own = ModelConfig(base=str(folder), device=device, dtype=_dtype(folder, device), template_options=options)
    template = load_template(own, folder, folder, Prompt(critic.prompt))
    dialogues = read_dialogues(trajectories, template, critic)
    hidden = views(dialogues, template, hidden=True)
    plain = views(dialogues, template, hidden=False)

    seen = hidden if critic.hidden_information else plain
    compute = log_probs_of
    if critic.score == "value-head":
        require_regular(folder / VALUE_HEAD)
        compute = values_of(load_file(folder / VALUE_HEAD))
    [of_critic] = passes("critic", folder, template, own, [seen], compute)
    frozen = ModelConfig(
        base=str(reference), training="qlora" if critic.training == "qlora" else "lora", device=device, dtype=own.dtype
    )
    with_c, without = passes("base", folder, template, frozen, [hidden, plain], log_probs_of)
    compared = with_c if critic.hidden_information and critic.convention == "paper" else without
    return [
        _row(critic, *of_dialogue, template.tokenizer if with_tokens else None)
        for of_dialogue in zip(dialogues, of_critic, compared, with_c, without, strict=True)
    ]


def _row(critic: CriticFile, dialogue: Dialogue, of_critic, compared, with_c, without, tokenizer) -> dict:
    """of_critic … without: (L,) log-probabilities of each turn, or its value; None where the dialogue lacks that view.
    tokenizer: None unless details of the tokens are wanted.
    """
    turns = []
    gains = None if dialogue.drafts is None else turn_gains(dialogue.drafts, len(dialogue.turns))
    for number, said in enumerate(dialogue.turns):
        ratios = None if critic.score == "value-head" else of_critic[number] - compared[number]
        untrained = None if with_c is None else with_c[number] - without[number]
        turn = {
            "turn": number,
            "tokens": len(said.ids),
            "advantage": float(of_critic[number]) if ratios is None else _advantage(ratios, critic),
            "untrained": None if untrained is None else _advantage(untrained, critic),
        }
        if gains is not None:
            turn["gain"] = float(gains[number])
        if tokenizer is not None:
            turn["token_ids"] = said.ids.tolist()
            turn["texts"] = texts_of(tokenizer, said.ids.tolist())
            turn["log_ratios"] = None if ratios is None else _rounded(ratios)
            turn["untrained_log_ratios"] = None if untrained is None else _rounded(untrained)
        turns.append(turn)
    return {"id": dialogue.id, "task": dialogue.task, "reward": dialogue.reward, "turns": turns}


CONTEXT = 6  # earlier tokens decoded together with the next one, because a tokenizer may join their text
MAX_PARTIAL_TOKENS = 16  # longest run of tokens that may form one character; a longer one never does


def texts_of(tokenizer, ids: Sequence[int]) -> list[str]:
    """The text is empty for special tokens and for tokens that only begin a character."""

    def decoded(some: Sequence[int]) -> str:
        return tokenizer.decode(some, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    texts, settled = [], 0
    for end in range(1, len(ids) + 1):
        start = max(0, settled - CONTEXT)
        news = decoded(ids[start:end])[len(decoded(ids[start:settled])) :]
        if news.endswith("\ufffd") and end < len(ids) and end - settled < MAX_PARTIAL_TOKENS:
            texts.append("")
            continue
        texts.append(news)
        settled = end
    return texts


def _advantage(ratios: np.ndarray, critic: CriticFile) -> float:
    return float(ratios.mean(dtype=np.float64) if critic.length_normalisation else ratios.sum(dtype=np.float64))


def _rounded(ratios: np.ndarray) -> list[float]:
    return [round(float(ratio), 6) for ratio in ratios]


# ---- trajectories


def read_dialogues(paths: Sequence[Path], template: Template, critic: CriticFile) -> list[Dialogue]:
    """Reports the dialogues that cannot be scored. Errors: Fault when nothing is left."""
    read = merge(map(_read_file, paths))
    settled = settle(template, read.dialogues)
    left_out, dialogues = read.left_out + settled.left_out, settled.dialogues
    if critic.hidden_information:
        dialogues = [dialogue for dialogue in dialogues if dialogue.hidden_information is not None]
        left_out["without hidden information"] += len(settled.dialogues) - len(dialogues)
    problems = read.problems + settled.problems
    for sentence in (*read.notices, *settled.notices, *map(str, problems[:10])):
        say(sentence)
    if +left_out:
        say(f"Left out: {listed(left_out)}.")
    if not dialogues:
        why = why_none(Read(problems=problems, left_out=left_out))
        raise UsageFault(f"No trajectory can be scored by this critic{why}.")
    return dialogues


def _read_file(path: Path) -> Read:
    """Keeps rows without a reward and leaked ones."""
    read, openings = Read(), openings_of()
    for line, row in json_lines(path, read.problems):
        try:
            read.dialogues.append(dialogue_of(row, path, line, openings))
        except BadRow as why:
            read.problems.append(Problem(str(path), line, str(why)))
    return read


def views(dialogues: Sequence[Dialogue], template: Template, *, hidden: bool) -> View:
    """None for a dialogue without hidden information when `hidden` is set."""
    shown = [dialogue for dialogue in dialogues if not hidden or dialogue.hidden_information is not None]
    made = dict(zip(map(id, shown), template.all_turns(shown, hidden), strict=True))
    return [made.get(id(dialogue)) for dialogue in dialogues]


# ---- passes over a model


Compute = Callable[[Base, list[Turn]], Sequence[np.ndarray]]


def passes(
    name: str, critic: Path, template: Template, config: ModelConfig, of: Sequence[View], compute: Compute
) -> list[list]:
    """Gives `compute`'s result for each view and dialogue; None where the view has no turns. critic: its folder."""
    device = choose_device(config.device)
    folder = find_model(config, critic)
    model = load_model(config, folder, device, choose_dtype(config.dtype, device))
    base = Base(model.eval(), template.tokenizer, config, folder, None)
    budget = TokenBudget(MAX_MICRO_BATCH_TOKENS[device.type], Ranks(), StopRequest(critic), Events(None))
    results = []
    for number, view in enumerate(of, start=1):
        part = name if len(of) == 1 else f"{name}, {number} of {len(of)}"
        turns = [turn for of_dialogue in view for turn in of_dialogue or ()]
        made = iter(in_batches(base, turns, budget, told(part, len(turns), base, compute)))
        results.append([None if each is None else [next(made) for _ in each] for each in view])
    del model, base
    free_memory()
    return results


def log_probs_of(base: Base, turns: list[Turn]) -> list[np.ndarray]:
    return [log_probs.cpu().numpy() for log_probs in token_log_probs(base.model, turns)]


def values_of(head: dict[str, torch.Tensor]) -> Compute:
    def compute(base: Base, turns: list[Turn]) -> np.ndarray:
        weight, bias = (head[f"value_head.{part}"].to(base.device) for part in ("weight", "bias"))
        return (last_hidden(base.model, turns).float() @ weight + bias).cpu().numpy()

    return compute


def told(part: str, total: int, base: Base, compute: Compute) -> Callable[[list[Turn]], Sequence[np.ndarray]]:
    """Wraps `compute` to report its progress every few seconds."""
    done, said = 0, time.monotonic()

    def work(turns: list[Turn]) -> Sequence[np.ndarray]:
        nonlocal done, said
        made = compute(base, turns)
        done += len(turns)
        if time.monotonic() - said > 2 or done >= total:
            said = time.monotonic()
            say(f"{part}: {min(done, total)} of {total} turns")
        return made

    return work


def _dtype(folder: Path, device: str) -> str:
    """On CUDA that of the critic's files, so that rounding does not undo training; else float32."""
    if choose_device(device).type != "cuda":
        return "float32"
    return json.loads(read_text(folder / "config.json"))["dtype"]


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
