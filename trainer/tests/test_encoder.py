"""Texts become tokens piece by piece as they would become tokens whole."""

import random

import pytest
from dialogues import with_template
from families import SPECIALS, tokenizer_of
from tokenizers import AddedToken

from tandem_trainer.data.template import Encoder, Template


@pytest.mark.parametrize("family", SPECIALS)
def test_tokenising_piece_by_piece_gives_what_tokenising_whole_gives(family):
    tokenizer = tokenizer_of(family)
    template = Template(tokenizer)
    assert template.encoder.cut == SPECIALS[family][1]
    parts = ["", " ", "\n", "\n\n", "  x ", "What ", "é🙂", "<|", "|>", "<think>", *SPECIALS[family]]
    chance = random.Random(0)
    texts = ["".join(chance.choices(parts, k=chance.randint(0, 12))) for _ in range(300)]
    whole = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    assert [ids.tolist() for ids in template.encoder.encode(texts)] == whole


@pytest.mark.parametrize(
    "token",
    [
        AddedToken("<|im_end|>", lstrip=True),
        AddedToken("<|im_end|>", single_word=True),
        AddedToken("<|im_end|>|", normalized=False),
        AddedToken("x<|im", normalized=False),
    ],
)
def test_texts_are_not_cut_where_the_token_depends_on_what_stands_around_it(token):
    tokenizer = with_template(None)
    tokenizer.add_tokens([token])
    encoder = Encoder(tokenizer, tokenizer.convert_tokens_to_ids("<|im_end|>"), len(tokenizer))
    assert encoder.cut is None
    texts = ["What x<|im_end|>| is ", "", " <|im_end|> "]
    assert [ids.tolist() for ids in encoder.encode(texts)] == [tokenizer(text)["input_ids"] for text in texts]
