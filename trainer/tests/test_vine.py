"""GRPO's turn credit by rollouts, with a server and a policy of known values that stand in; the loss is TRL's."""

import math
import random
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from models import tiny_model

from tandem_env import Observation
from tandem_env import grpo as played_by
from tandem_env.grpo import MAX_REPLAYS, Dialogues, reward
from tandem_trainer.config import GrpoConfig
from tandem_trainer.methods.vine import Vine, VineTrainer, by_token, turn_advantages

ROW = {"prompt": [{"role": "user", "content": "?", "task_id": "a"}], "task_id": "a"}

# A tree of two messages of the agent, x or y, and a reply between them, a or b, each with probability 1/2.
SECOND = {"a": 0.25, "b": 0.75}  # probability that the second message is x, by the reply; of the first it is 1/2
REWARD = {"".join(path): ((5 * number) % 8) / 7 for number, path in enumerate(product("xy", "ab", "xy"))}
AFTER = {
    first + reply: SECOND[reply] * REWARD[f"{first}{reply}x"] + (1 - SECOND[reply]) * REWARD[f"{first}{reply}y"]
    for first, reply in product("xy", "ab")
}
START = sum(AFTER.values()) / 4


class Tree:
    """An episode of the tree. Taken up at a history, it leaks in its reply if `LEAKS` is set."""

    LEAKS = False

    def __init__(self, url: str, token: str | None):
        pass

    def reset(self, task_id: str, seed: int, history: list[dict] | None = None) -> None:
        self.path = "".join(each["agent"] + each["reply"] for each in history or [])
        self.reply = "ab"[seed % 2]
        self.leaks = self.LEAKS and history is not None

    def step(self, message: str) -> Observation:
        self.path += message
        if len(self.path) == 3:
            return Observation("", True, REWARD[self.path], metadata={"success": REWARD[self.path] == 1})
        self.path += self.reply
        return Observation(self.reply, False, 0.0, metadata={"leak": {"leaked": self.leaks}})


class Letters:
    """A tokenizer with a token for each letter; a semicolon ends a message."""

    def apply_chat_template(self, messages: list[dict], tokenize: bool, **_: object) -> str | list[int]:
        text = "".join(f"{each['content']};" for each in messages)
        return [ord(letter) for letter in text] if tokenize else text

    def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) for letter in text]}

    def decode(self, ids: list[int], **_: object) -> str:
        return "".join(map(chr, ids))


def played(monkeypatch: pytest.MonkeyPatch, step: int, count: int = 2) -> tuple[Vine, SimpleNamespace, dict]:
    """Plays dialogues of the tree in a step, which is the seed of policy and server."""
    monkeypatch.setattr(played_by, "Episode", Tree)
    chance = random.Random(step)

    def said(prompts: list[list[int]], *_: object) -> tuple[list[list[int]], None]:
        chances = [SECOND.get(chr(ids[-2]), 0.5) for ids in prompts]
        return [[ord("x" if chance.random() < each else "y")] for each in chances], None

    trainer = SimpleNamespace(
        processing_class=Letters(),
        chat_template_kwargs={},
        eos_token_ids=[0],
        state=SimpleNamespace(global_step=step),
        _generate_single_turn=said,
    )
    dialogues = Dialogues("", [ROW])
    made = dialogues([ROW["prompt"]] * count, trainer)
    return Vine(dialogues, GrpoConfig(vine_samples=4)), trainer, made


def test_the_values_of_a_tree_are_unbiased_and_a_shared_history_is_valued_once(monkeypatch):
    starts, after = [], {state: [] for state in AFTER}
    for step in range(600):
        vine, trainer, made = played(monkeypatch, step)
        advantages = vine.advantages(trainer)
        states = {each.histories[1].ids for each in vine.dialogues.last}
        assert vine.rollouts == 4 * (1 + len(states))
        assert vine.tokens == 4 * (2 + len(states))  # two messages from the start, one from each other history
        sums = [own - sum(turns) for own, turns in zip(made["tandem_reward"], advantages, strict=True)]
        assert sums[0] == pytest.approx(sums[1])
        starts.append(sums[0])
        for each, own, turns in zip(vine.dialogues.last, made["tandem_reward"], advantages, strict=True):
            [exchange] = each.histories[1].exchanges
            after[exchange["agent"] + exchange["reply"]].append(own - turns[1])
    for values, true in [(starts, START), *((after[state], AFTER[state]) for state in AFTER)]:
        known = torch.tensor(values)
        assert abs(known.mean() - true) < 3 * known.std() / math.sqrt(len(values))


def test_the_advantages_of_a_dialogue_sum_to_its_reward_minus_the_first_value():
    turns = turn_advantages([0.25, 0.75, 0.5], 1.0)
    assert turns == [0.5, -0.25, 0.5]
    assert sum(turns) == 1.0 - 0.25
    assert turn_advantages([0.25, None], 1.0) is None


def test_the_tokens_of_a_turn_share_its_advantage_and_the_replies_have_none():
    assert by_token([0.5, -0.25], [0, 3], [1, 1, 0, 1, 1, 1]) == [0.5, 0.5, 0, -0.25, -0.25, -0.25]


def test_a_step_has_advantages_of_unit_size_whatever_the_size_of_the_differences(monkeypatch):
    vine, trainer, made = played(monkeypatch, step=1, count=8)
    rows = vine.credit(made, trainer)["token_advantages"]
    known = torch.tensor([value for row, mask in zip(rows, made["env_mask"], strict=True) for value in row])
    own = torch.tensor([own for mask in made["env_mask"] for own in mask]).bool()
    assert known[own].square().mean().sqrt() == pytest.approx(1, abs=1e-2)
    assert (known[~own] == 0).all()
    assert vine.has_differed


def test_a_dialogue_with_a_history_that_only_leaks_is_masked_and_counted(monkeypatch):
    vine, trainer, made = played(monkeypatch, step=1)
    monkeypatch.setattr(Tree, "LEAKS", True)
    credited = vine.credit(made, trainer)
    assert [sum(mask) for mask in made["env_mask"]] == [2, 2]
    assert [sum(mask) for mask in credited["env_mask"]] == [0, 0]
    assert credited["token_advantages"] == [[0.0] * len(mask) for mask in made["env_mask"]]
    assert (vine.dropped, vine.has_differed) == (2, False)
    states = {each.histories[1].ids for each in vine.dialogues.last}
    assert vine.rollouts == 4 * (1 + MAX_REPLAYS + len(states))


class TwoTurns(Tree):
    """The second message is the answer, which is worth the parity of its length."""

    def reset(self, task_id: str, seed: int, history: list[dict] | None = None) -> None:
        self.turns = len(history or [])

    def step(self, message: str) -> Observation:
        self.turns += 1
        if self.turns == 2:
            return Observation("", True, float(len(message) % 2), metadata={"success": False})
        return Observation("Yes, sorted.", False, 0.0)


def test_a_step_of_trl_follows_the_gradient_of_the_turns_advantages(tmp_path: Path, monkeypatch):
    from datasets import Dataset
    from transformers import AutoModelForCausalLM
    from trl import GRPOConfig

    base = tiny_model(tmp_path / "base")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setattr(played_by, "Episode", TwoTurns)
    dialogues = Dialogues("", [ROW])
    vine = Vine(dialogues, GrpoConfig(vine_samples=2))
    made = {}

    def play(prompts, trainer):
        made.update(vine.credit(dialogues(prompts, trainer), trainer))
        return made

    trainer = VineTrainer(
        str(base),
        reward_funcs=reward,
        rollout_func=play,
        train_dataset=Dataset.from_list([ROW]),
        args=GRPOConfig(
            output_dir=str(tmp_path / "trl"),
            per_device_train_batch_size=2,
            gradient_accumulation_steps=2,
            num_generations=4,
            max_completion_length=6,
            max_steps=1,
            beta=0.0,
            optim="sgd",
            learning_rate=0.1,
            lr_scheduler_type="constant",
            max_grad_norm=0.0,
            seed=3,
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        ),
    )
    trainer.train()
    assert len({round(value, 3) for row in made["token_advantages"] for value in row}) > 3

    model = AutoModelForCausalLM.from_pretrained(base)
    rows = list(
        zip(*(made[name] for name in ("prompt_ids", "completion_ids", "env_mask", "token_advantages")), strict=True)
    )
    loss = 0.0
    for prompt, ids, mask, advantages in rows:
        log_probs = model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        chosen = log_probs.gather(1, torch.tensor(ids)[:, None])[:, 0]
        loss = loss - (chosen * torch.tensor(advantages) * torch.tensor(mask)).sum()
    (loss / sum(sum(mask) for _, _, mask, _ in rows)).backward()
    for name, weight in model.named_parameters():
        expected = weight.detach() - 0.1 * weight.grad
        torch.testing.assert_close(dict(trainer.model.named_parameters())[name].detach(), expected, msg=name)
