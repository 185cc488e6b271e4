"""Trains a starter model's tokenizer: each word of its world is one token, other text is split further.

It is byte-level BPE, so that no text is unknown. A few merges are learned; the words of the world are added to the
vocabulary, and with `ignore_merges` a piece that is in the vocabulary is not split. Numbers are separated from the
space before them, so that a value is the same token in a reply and in code, which makes it easy to copy.

Each stretch of an answer that its world always writes alike is one token. Otherwise three of four tokens would be the
same in right and wrong answers: they would dilute a critic's average over the answer, and a preference against a wrong
answer would fall on them.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

PAD, USER, AGENT, HIDDEN, END = SPECIALS = ("<|pad|>", "<|user|>", "<|agent|>", "<|hidden|>", "<|end|>")
CONTEXT = 2048

# The classes are: a line break with its indentation; a word with the space before it; a number; other signs; spaces.
# Only classes that every regular expression engine reads alike are used.
WORDS = r"\n *| ?[A-Za-z_]+(?:'[a-z]+)?|[0-9]+(?:\.[0-9]+)?| ?[^ \nA-Za-z0-9_]+| +"

# Nothing else is escaped, because JavaScript refuses unnecessary escapes.
SIGNS = re.compile(r"[\^$\\.*+?()\[\]{}|]")


@dataclass(frozen=True)
class Language:
    """openings: how answers begin. idioms: other stretches of an answer. values: words that an answer chooses from.

    sentences: stretches of other messages. Each is one token.
    """

    openings: tuple[str, ...]
    idioms: tuple[str, ...]
    values: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def pieces(self) -> str:
        # The first match wins.
        stretches = (*self.openings, *self.sentences, *self.idioms, *self.values)
        return "|".join([*(SIGNS.sub(r"\\\g<0>", each) for each in stretches), WORDS])


def train(language: Language, world: Iterable[str], others: Iterable[str], merges: int) -> PreTrainedTokenizerFast:
    """Trains a tokenizer with all pieces of the world's texts, and with `merges` merges learned from the others.

    Sentences count where no text has them, too: an agent may ask again what no document asks again.
    """
    learned = with_pieces(Tokenizer(models.BPE()), language)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=len(SPECIALS) + len(alphabet) + merges,
        special_tokens=list(SPECIALS),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    learned.train_from_iterator(others, trainer)
    texts = {*world, *language.sentences}
    words = {piece for text in texts for piece, _ in learned.pre_tokenizer.pre_tokenize_str(text)}
    return finished(learned, language, sorted(words))


def with_pieces(tokenizer: Tokenizer, language: Language) -> Tokenizer:
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(language.pieces), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def finished(learned: Tokenizer, language: Language, words: list[str]) -> PreTrainedTokenizerFast:
    read = json.loads(learned.to_str())["model"]
    vocabulary: dict[str, int] = dict(read["vocab"])
    for word in words:
        vocabulary.setdefault(word, len(vocabulary))
    merges = [tuple(merge) for merge in read["merges"]]
    model = models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True)
    whole = with_pieces(Tokenizer(model), language)
    whole.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    return PreTrainedTokenizerFast(
        tokenizer_object=whole,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[USER, AGENT, HIDDEN],
        chat_template=(Path(__file__).parent / "chat_template.jinja").read_text(),
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )
