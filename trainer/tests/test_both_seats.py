"""Agent and collaborator learn by GRPO in turn, in a game that can be counted out, with a server that stands in.

The collaborator knows one of two states and says one word; the agent hears the word and acts. Both are tables of logits
over eight words, trained by the real TRL with our rollout functions and rewards.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput

from tandem_env import Observation, Refused
from tandem_env import grpo as of_agent
from tandem_env import replies as of_collaborator
from tandem_env.grpo import Dialogues, reward
from tandem_env.replies import Replies, priced
from tandem_trainer.config import DataConfig, GrpoConfig, ModelConfig, RunConfig
from tandem_trainer.methods.grpo import rewards_of
from tandem_trainer.run.environment import _pack_options

STATES = ("rain", "sun")
SIGNALS = ("x", "y")
ACTIONS = ("umbrella", "hat")
LEAKS = ("take-umbrella", "take-hat")  # replies that give the answer away
WORDS = ["<pad>", "<end>", "ask", *STATES, *SIGNALS, *ACTIONS, *LEAKS]
RIGHT = dict(zip(STATES, ACTIONS, strict=True))

ROWS = [{"prompt": [{"role": "user", "content": "ask", "task_id": state}], "task_id": state} for state in STATES]
Said = Callable[[str], str]  # a player: what it says to a word
CHANCE = torch.Generator()  # TRL sets the seed of the other one anew for each training


class OneHot(torch.nn.Module):
    def forward(self, input_ids: Tensor, **_: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=torch.nn.functional.one_hot(input_ids, len(WORDS)).float())


class Table(PreTrainedModel, GenerationMixin):
    """p(word | last word) is the softmax of a column. After a state come replies, after a signal actions."""

    config_class = PretrainedConfig
    base_model_prefix = "table"

    def __init__(self, replies: tuple[str, ...] = SIGNALS):
        super().__init__(PretrainedConfig())
        self.table = OneHot()
        self.head = torch.nn.Linear(len(WORDS), len(WORDS), bias=False)
        torch.nn.init.zeros_(self.head.weight)
        for words, choice in ((STATES, replies), (SIGNALS, ACTIONS)):
            for word, other in product(words, set(WORDS) - set(choice)):
                self.head.weight.data[WORDS.index(other), WORDS.index(word)] = -1e4  # its gradient is 0

    def get_output_embeddings(self) -> torch.nn.Linear:
        return self.head

    def forward(self, input_ids: Tensor, **_: object) -> CausalLMOutput:
        return CausalLMOutput(logits=self.head(self.table(input_ids).last_hidden_state))

    def after(self, word: str) -> Tensor:
        return self.head.weight[:, WORDS.index(word)].detach().softmax(0)

    def probability(self, word: str, after: str) -> float:
        return self.after(after)[WORDS.index(word)].item()

    def best(self, replies: tuple[str, ...]) -> tuple[str, ...]:
        """The likeliest reply to each state."""
        return tuple(max(replies, key=lambda reply, s=state: self.probability(reply, s)) for state in STATES)

    def draw(self, after: str) -> str:
        return WORDS[torch.multinomial(self.after(after), 1, generator=CHANCE).item()]


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a word; a conversation is its last message."""
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>", pad_token="<pad>")
    fast.chat_template = "{{ messages[-1].content }}"
    return fast


class World:
    """Episodes of a game about the state that their task names; `answer` acts on the word of the collaborator."""

    def __init__(self, url: str, token: str | None):
        pass

    def reset(self, task_id: str, seed: int) -> Observation:
        self.state, self.seed, self.replied = task_id, seed, False
        return Observation("ask", False, None, prompt=task_id)

    def acted(self, action: str, **leak: object) -> Observation:
        is_right = action == RIGHT[self.state]
        return Observation("", True, float(is_right), metadata={"success": is_right, **leak}, turn=2)

    def close(self) -> None:
        pass


def with_agent(answer: Said) -> type[World]:
    """The client is the collaborator."""

    class Asking(World):
        def step(self, reply: str) -> Observation:
            return self.acted(answer(reply), leak={"fraction": 1.0, "leaked": reply in LEAKS})

    return Asking


def with_collaborator(reply: Said) -> type[World]:
    """The client is the agent, who asks first."""

    class Replying(World):
        def step(self, message: str) -> Observation:
            if self.replied:
                return self.acted(message)
            self.replied = True
            return Observation(reply(self.state), False, 0.0)

    return Replying


def learn(table: Table, rollout: Replies | Dialogues, rewards: of_collaborator.Rewards, steps: int, out: Path) -> None:
    """Trains the table in place."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = 8 * rollout.rows_per_dialogue
    trainer = GRPOTrainer(
        table,
        reward_funcs=rewards,
        rollout_func=rollout,
        train_dataset=Dataset.from_list(ROWS),
        processing_class=tokenizer(),
        args=GRPOConfig(
            output_dir=str(out),
            per_device_train_batch_size=len(ROWS) * rows,
            num_generations=rows,
            max_steps=steps,
            beta=0.0,
            optim="sgd",
            learning_rate=6.0,
            lr_scheduler_type="constant",
            max_grad_norm=0.0,
            gradient_checkpointing=False,
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        ),
    )
    trainer._generate_single_turn = lambda prompts, *_: (
        [[WORDS.index(table.draw(WORDS[ids[-1]]))] for ids in prompts],
        None,
    )
    trainer.train()


def success_of(collaborator: Table, agent: Table) -> float:
    """Counted out."""
    return sum(
        collaborator.probability(signal, state) * agent.probability(RIGHT[state], signal) / len(STATES)
        for state, signal in product(STATES, SIGNALS)
    )


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    CHANCE.manual_seed(0)


def test_agent_and_collaborator_that_learn_in_turn_agree_on_a_signal_for_each_state(tmp_path, monkeypatch):
    agent, collaborator = Table(), Table()
    assert success_of(collaborator, agent) == pytest.approx(0.5)
    for _ in range(3):
        monkeypatch.setattr(of_agent, "Episode", with_collaborator(collaborator.draw))
        learn(agent, Dialogues("", ROWS), reward, 6, tmp_path)
        monkeypatch.setattr(of_collaborator, "Episode", with_agent(agent.draw))
        learn(collaborator, Replies("", rows_per_dialogue=2), priced(reward, 1.0), 6, tmp_path)
    assert success_of(collaborator, agent) > 0.9
    assert sorted(collaborator.best(SIGNALS)) == sorted(SIGNALS)


def played(monkeypatch: pytest.MonkeyPatch, failing: tuple[str, ...] = (), group: int = 1) -> tuple[Replies, dict]:
    """Each collaborator says x, which leaks, and the agent takes an umbrella; in some states it fails."""

    class Leaking(World):
        def step(self, reply: str) -> Observation:
            if self.state in failing:
                raise Refused("EXECUTION_ERROR", "The agent failed.")
            return self.acted("umbrella", leak={"fraction": 1.0, "leaked": True})

    monkeypatch.setattr(of_collaborator, "Episode", Leaking)
    trainer = SimpleNamespace(
        processing_class=tokenizer(),
        chat_template_kwargs={},
        eos_token_ids=[WORDS.index("<end>")],
        state=SimpleNamespace(global_step=0),
        _generate_single_turn=lambda prompts, *_: ([[WORDS.index("x")] for _ in prompts], None),
    )
    replies = Replies("", rows_per_dialogue=2)
    return replies, replies([row["prompt"] for row in ROWS for _ in range(2 * group)], trainer)


def test_a_dialogue_has_rows_for_its_replies_and_counts_for_nothing_when_the_agent_fails(monkeypatch):
    replies, made = played(monkeypatch, failing=("sun",))
    end, rain, sun, x = (WORDS.index(word) for word in ("<end>", "rain", "sun", "x"))
    assert made == {
        "prompt_ids": [[rain], [end], [sun], [end]],
        "completion_ids": [[x], [end], [x], [end]],
        "logprobs": None,
        "env_mask": [[1], [0], [0], [0]],
        "tandem_reward": [1.0, 1.0, None, None],
        "tandem_success": [True, True, None, None],
        "tandem_leaked": [True, True, False, False],
    }
    assert (replies.played, replies.leaked, replies.turns) == (2, 1, [2])


def test_in_the_dialogues_of_a_group_the_agent_draws_by_the_same_seed(monkeypatch):
    replies, _ = played(monkeypatch, group=2)
    first, second, third, fourth = (episode.seed for episode in replies._episodes)
    assert first == second != third == fourth


def test_an_agent_that_fails_in_every_dialogue_stops_the_training_with_its_reason(monkeypatch):
    with pytest.raises(Refused, match="The agent failed"):
        played(monkeypatch, failing=STATES)


def acts(reply: str) -> dict[str, float]:
    """An agent that believes a leak, and a signal three times in four."""
    if reply in LEAKS:
        return {reply.removeprefix("take-"): 1.0}
    right = ACTIONS[SIGNALS.index(reply)]
    return {action: 0.75 if action == right else 0.25 for action in ACTIONS}


def drawn(reply: str) -> str:
    actions = acts(reply)
    return list(actions)[torch.multinomial(torch.tensor([*actions.values()]), 1, generator=CHANCE).item()]


def value_of(policy: tuple[str, ...], rewards: of_collaborator.Rewards) -> float:
    """Counted out. policy: the reply to each state."""
    return sum(
        chance * rewards(tandem_reward=[float(action == RIGHT[state])], tandem_leaked=[reply in LEAKS])[0]
        for state, reply in zip(STATES, policy, strict=True)
        for action, chance in acts(reply).items()
    )


@pytest.mark.parametrize(("price", "best"), [(0.0, ("take-umbrella", "take-hat")), (1.0, ("x", "y"))])
def test_with_a_price_on_leaks_the_best_collaborator_signals_and_learning_finds_it(tmp_path, monkeypatch, price, best):
    replies, rewards = (*SIGNALS, *LEAKS), priced(reward, price)
    assert max(product(replies, repeat=2), key=lambda policy: value_of(policy, rewards)) == best
    collaborator = Table(replies)
    monkeypatch.setattr(of_collaborator, "Episode", with_agent(drawn))
    learn(collaborator, Replies("", rows_per_dialogue=1), rewards, 12, tmp_path)
    assert collaborator.best(replies) == best


def test_an_agent_without_a_price_has_the_rewards_and_the_server_that_it_had():
    config = RunConfig(ModelConfig(""), DataConfig(tasks=[]), method="grpo", grpo=GrpoConfig(simulator="local:mine"))
    made = {"tandem_reward": [0.1, None, 1.0], "tandem_success": [False, None, True], "tandem_leaked": [True] * 3}
    assert rewards_of(config)(**made) == reward(**made)
    options = _pack_options(config, Path("run"))
    assert options["--simulator"] == "local:mine"
    assert "--agent" not in options
    seat = replace(config, role="collaborator", grpo=GrpoConfig(agent="starter", leak_price=None))
    assert rewards_of(seat)(**made) == [-0.9, None, 0.0]
    assert _pack_options(seat, Path("run"))["--agent"] == "starter"
