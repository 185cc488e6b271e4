"""What GRPO does with a dialogue in which a reply gives the reference away, with a server that stands in.

The last episode of a batch leaks in its first reply, as often as a test says. The gradient is that of the real TRL.
"""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from models import tiny_model

from tandem_env import Observation
from tandem_env import grpo as played_by
from tandem_env.grpo import MAX_REPLAYS, Developer, Dialogues, reward

ROW = {"prompt": [{"role": "user", "content": "Write a function.", "task_id": "a"}], "task_id": "a"}
REWARDS = (1.0, 0.0, 0.5, 1.0)
LEAKING = 3  # number of the episode that leaks


class Server:
    """Makes episodes of a question and an answer. secret: the reply that leaks. times: how often it leaks."""

    def __init__(self, times: int, secret: str = "return a + b"):
        self.times, self.secret = times, secret
        self.seeds: list[list[int]] = []

    def episode(self, url: str, token: str | None) -> "StandIn":
        self.seeds.append([])
        return StandIn(self, len(self.seeds) - 1)


class StandIn:
    def __init__(self, server: Server, number: int):
        self.server, self.number = server, number

    def reset(self, task_id: str, seed: int) -> Observation:
        self.server.seeds[self.number].append(seed)
        self.turns = 0
        return Observation("Write a function.", False, None)

    def step(self, message: str, kind: str = "message") -> Observation:
        self.turns += 1
        if self.turns == 2:
            return Observation("", True, REWARDS[self.number], metadata={"success": REWARDS[self.number] == 1})
        leaked = self.number == LEAKING and len(self.server.seeds[self.number]) <= self.server.times
        leak = {"leak": {"fraction": float(leaked), "leaked": leaked}}
        return Observation(self.server.secret if leaked else "Yes, sorted.", False, 0.0, metadata=leak)

    def close(self) -> None:
        pass


def said(prompts: list[list[int]], *_: object) -> tuple[list[list[int]], None]:
    """Stands in for sampling: the message depends on the number of the dialogue and its length, and on nothing else."""
    made = [random.Random(f"{number} {len(ids)}").choices(range(3, 40), k=6) for number, ids in enumerate(prompts)]
    return made, None


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "base")


def play(base: Path, monkeypatch: pytest.MonkeyPatch, server: Server, **options: bool) -> tuple[Dialogues, dict]:
    from transformers import AutoTokenizer

    monkeypatch.setattr(played_by, "Episode", server.episode)
    tokenizer = AutoTokenizer.from_pretrained(base)
    trainer = SimpleNamespace(
        processing_class=tokenizer,
        chat_template_kwargs={},
        eos_token_ids=[tokenizer.eos_token_id],
        state=SimpleNamespace(global_step=0),
        _generate_single_turn=said,
    )
    dialogues = Dialogues("", [ROW], **options)
    return dialogues, dialogues([ROW["prompt"]] * len(REWARDS), trainer)


def weights(base: Path, monkeypatch: pytest.MonkeyPatch, server: Server, group: int, **options: bool) -> torch.Tensor:
    """Returns all weights after two steps of TRL's trainer: in the second the KL divergence has a gradient, too."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setattr(played_by, "Episode", server.episode)
    trainer = GRPOTrainer(
        str(base),
        reward_funcs=reward,
        rollout_func=Dialogues("", [ROW], **options),
        train_dataset=Dataset.from_list([ROW]),
        args=GRPOConfig(
            output_dir=str(base.parent / "trl"),
            per_device_train_batch_size=group,
            num_generations=group,
            max_steps=2,
            beta=0.5,
            optim="sgd",
            learning_rate=0.1,
            lr_scheduler_type="constant",
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        ),
    )
    monkeypatch.setattr(trainer, "_generate_single_turn", said)
    trainer.train()
    return torch.cat([weight.detach().flatten() for weight in trainer.model.parameters()])


def test_a_dialogue_that_leaks_is_played_again_with_another_seed(base, monkeypatch):
    server = Server(times=1)
    dialogues, made = play(base, monkeypatch, server)
    assert (dialogues.played, dialogues.leaked, dialogues.dropped) == (5, 1, 0)
    first, second = server.seeds[LEAKING]
    assert first != second
    assert made["tandem_reward"] == list(REWARDS)
    assert made["tandem_leaked"] == [False] * 4
    assert [sum(mask) for mask in made["env_mask"]] == [12] * 4
    again = Server(times=1)
    play(base, monkeypatch, again)
    assert again.seeds == server.seeds


def test_one_that_leaks_every_time_is_dropped_and_the_figures_say_so(base, monkeypatch):
    dialogues, made = play(base, monkeypatch, Server(times=99))
    assert (dialogues.played, dialogues.leaked, dialogues.dropped) == (4 + MAX_REPLAYS, 1 + MAX_REPLAYS, 1)
    assert dialogues.turns == [2, 2, 2]
    assert made["tandem_reward"] == [1.0, 0.0, 0.5, None]
    assert made["tandem_success"] == [True, False, False, None]
    assert made["tandem_leaked"] == [False, False, False, True]
    assert sum(made["env_mask"][LEAKING]) == 0


def test_leaked_dialogues_are_kept_on_request_and_still_counted(base, monkeypatch):
    dialogues, made = play(base, monkeypatch, Server(times=99), with_leaked=True)
    assert (dialogues.played, dialogues.leaked, dialogues.dropped) == (4, 1, 0)
    assert made["tandem_reward"] == list(REWARDS)
    assert made["tandem_leaked"] == [False, False, False, True]
    assert sum(made["env_mask"][LEAKING]) == 12


def test_a_dropped_dialogue_moves_no_weight(base, monkeypatch):
    before = torch.cat([weight.flatten() for weight in _model(base).parameters()])
    dropped = weights(base, monkeypatch, Server(times=99), group=4)
    assert (dropped - before).abs().max() > 1e-3
    # A group without it has the same mean, standard deviation, KL divergence and number of tokens.
    torch.testing.assert_close(dropped, weights(base, monkeypatch, Server(times=99), group=3))
    kept = weights(base, monkeypatch, Server(times=99), group=4, with_leaked=True)
    assert (kept - dropped).abs().max() > 1e-3


def test_a_model_with_tools_gets_no_reward_after_a_leak(monkeypatch):
    server = Server(times=99)
    monkeypatch.setattr(played_by, "Episode", server.episode)
    rewards = []
    for with_leaked in (False, True):
        server.seeds = [[]] * LEAKING
        colleague = Developer("", with_leaked=with_leaked)
        colleague.reset("a", 1)
        colleague.ask("What is it?")
        colleague.answer("def f(): return 0")
        rewards.append(colleague.get_reward())
    assert rewards == [None, 1.0]


def _model(base: Path) -> torch.nn.Module:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(base)
