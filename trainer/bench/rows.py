"""Pairs with the lengths of real dialogues, and the model to train on them; both sides use the same.

Token ids are random, lengths are not: an opening of 420 tokens (instructions and description), hidden information of
130, 3 to 9 agent turns of 40 to 160 tokens (thoughts and a question), replies of 20 to 80, a final answer of 120 to
300, and 5 tokens of the chat template at each change of speaker. Three trajectories of a task give the critic's pairs,
16 candidates of a turn the policy's: four pairs each, as in the paper. Pairs that stand alone share a request of eight
tokens and nothing with other pairs.
"""

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tandem_trainer.turn import Example, Turn

GLUE = 5


class Text:
    """Random tokens of a vocabulary; the first eight ids are kept for special tokens."""

    def __init__(self, vocabulary: int, seed: int):
        self.random = np.random.default_rng(seed)
        self.vocabulary = vocabulary

    def tokens(self, low: int, high: int) -> np.ndarray:
        return self.random.integers(8, self.vocabulary, self.random.integers(low, high + 1), dtype=np.int32)

    def trajectory(self, opening: np.ndarray) -> tuple[Turn, ...]:
        history, turns = opening, []
        count = int(self.random.integers(3, 10))
        for turn in range(count):
            response = self.tokens(120, 300) if turn == count - 1 else self.tokens(40, 160)
            turns.append(Turn(history, response, sampled=True))
            history = np.concatenate([history, response, self.tokens(GLUE + 20, GLUE + 80), self.tokens(GLUE, GLUE)])
        return tuple(turns)


def critic_pairs(vocabulary: int, count: int, seed: int = 0) -> list[Example]:
    """Makes pairs of trajectories: one better trajectory of each task against two worse ones."""
    text, pairs = Text(vocabulary, seed), []
    while len(pairs) < count:
        opening = np.concatenate([text.tokens(130, 130), text.tokens(420, 420)])
        better, *worse = (text.trajectory(opening) for _ in range(3))
        pairs += [Example(f"task-{len(pairs)}", better, (*one,)) for one in worse]
    return pairs[:count]


def policy_pairs(vocabulary: int, count: int, seed: int = 0) -> list[Example]:
    """Makes four pairs of candidates for each history; every turn of a trajectory is equally likely."""
    text, pairs = Text(vocabulary, seed), []
    while len(pairs) < count:
        turns = text.trajectory(text.tokens(420, 420))
        place = int(text.random.integers(len(turns)))
        lengths = (120, 300) if place == len(turns) - 1 else (40, 160)
        history = turns[place].prompt
        for _ in range(4):
            good, bad = (Turn(history, text.tokens(*lengths), sampled=True) for _ in range(2))
            pairs.append(Example(f"turn-{len(pairs) // 4}", (good,), (bad,)))
    return pairs[:count]


def lone_pairs(vocabulary: int, count: int, seed: int = 0) -> list[Example]:
    """Makes pairs of two final answers to a request of their own, so that almost nothing is shared."""
    text, pairs = Text(vocabulary, seed), []
    for number in range(count):
        opening = text.tokens(8, 8)
        sides = ((Turn(opening, text.tokens(120, 300), sampled=True),) for _ in range(2))
        pairs.append(Example(f"alone-{number}", *sides))
    return pairs


PAIRS = {"critic": critic_pairs, "policy": policy_pairs, "alone": lone_pairs}  # by stage; `alone` trains the policy


def row_tokens(pairs: list[Example]) -> int:
    """Counts the tokens of the pairs as one row for each side, without padding; both sides are measured by them."""
    return sum(len(side[-1].prompt) + len(side[-1].response) for pair in pairs for side in (pair.chosen, pair.rejected))


SHAPES = {
    # 30 million parameters, half of them embeddings
    "30m": {"vocab_size": 32_000, "hidden_size": 448, "intermediate_size": 1_216, "num_hidden_layers": 6,
            "num_attention_heads": 7, "num_key_value_heads": 7, "tie_word_embeddings": True},
    # Llama 3.2 1B and Llama 3.1 8B, for a GPU
    "1b": {"vocab_size": 128_256, "hidden_size": 2_048, "intermediate_size": 8_192, "num_hidden_layers": 16,
           "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": True},
    "8b": {"vocab_size": 128_256, "hidden_size": 4_096, "intermediate_size": 14_336, "num_hidden_layers": 32,
           "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False},
}  # fmt: skip


def write_model(shape: str, folder: str, dtype: str) -> int:
    """Writes a Llama of that shape with random weights and returns how many parameters it has."""
    import torch

    torch.manual_seed(0)
    config = LlamaConfig(
        **SHAPES[shape], max_position_embeddings=16_384, bos_token_id=1, eos_token_id=2, pad_token_id=0
    )
    model = LlamaForCausalLM._from_config(config, dtype=getattr(torch, dtype))
    model.save_pretrained(folder)
    words(config.vocab_size).save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


def words(vocabulary: int) -> PreTrainedTokenizerFast:
    """Builds a tokenizer whose token n is the word `tn`. It has a chat template only because a model must have one."""
    tokenizer = Tokenizer(models.WordLevel({f"t{token}": token for token in range(vocabulary)}, unk_token="t3"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="t1",
        eos_token="t2",
        pad_token="t0",
        unk_token="t3",
        chat_template="{% for message in messages %}{{ message['content'] }} t2 {% endfor %}",
    )
