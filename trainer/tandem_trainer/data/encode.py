"""Text to token ids, each distinct piece of many texts once."""

from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase


class Encoder:
    """Tokenises rendered conversations, which repeat most of their text from turn to turn.

    A tokenizer first takes its added tokens (`<|im_end|>`) out of a text and then treats what stands between them piece
    by piece. So a text may be cut in front of such a token, and its ids are those of its pieces one behind the other.
    That holds only for tokens that match whatever stands around them; `cut` is the end of a turn if it is such a token,
    and without one every text is tokenised whole.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_of_turn: int):
        self.tokenizer = tokenizer
        self.cut = tokenizer.convert_ids_to_tokens(end_of_turn) if matches_anywhere(tokenizer, end_of_turn) else None

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """(L_i,) int32 of each text, without tokens that the tokenizer would put around it on its own."""
        pieces = [self.pieces(text) for text in texts]
        distinct = list(dict.fromkeys(piece for of_text in pieces for piece in of_text))
        if not distinct:
            return [np.empty(0, np.int32) for _ in texts]
        encoded = self.tokenizer(
            distinct,
            add_special_tokens=False,
            return_attention_mask=False,
            padding=False,
            truncation=False,
            verbose=False,
        )["input_ids"]
        ids = {piece: np.array(of_piece, np.int32) for piece, of_piece in zip(distinct, encoded, strict=True)}
        return [np.concatenate([np.empty(0, np.int32), *(ids[piece] for piece in of_text)]) for of_text in pieces]

    def pieces(self, text: str) -> list[str]:
        """The text cut in front of each end of a turn."""
        if self.cut is None or self.cut not in text:
            return [text] if text else []
        first, *others = text.split(self.cut)
        return ([first] if first else []) + [self.cut + other for other in others]


def matches_anywhere(tokenizer: PreTrainedTokenizerBase, token_id: int) -> bool:
    """Whether a token is found wherever its text stands, so that the ids left of it do not depend on what follows.

    Not so when it takes white space to its left, must be a single word, is compared after normalisation, or when
    another added token could swallow the beginning of it.
    """
    added = tokenizer.added_tokens_decoder
    token = added.get(token_id)
    if token is None or not tokenizer.is_fast or tokenizer.split_special_tokens:
        return False
    normalised = token.normalized and tokenizer.backend_tokenizer.normalizer is not None
    if token.lstrip or token.single_word or normalised:
        return False
    text = token.content
    others = [other.content for other in added.values() if other.content != text]
    return not any(
        text in other or any(other.endswith(text[:length]) for length in range(1, len(text))) for other in others
    )
