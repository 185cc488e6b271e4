"""Small real tokenizers with the special tokens and the chat templates of model families."""

from functools import cache
from pathlib import Path

from models import WORDS
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

TEMPLATES = Path(__file__).parent / "templates"

SPECIALS = {  # the first begins or pads a text, the second ends a turn, the others occur in the template
    "llama3_1": ["<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|end_of_text|>"],
    "qwen2_5": ["<|endoftext|>", "<|im_end|>", "<|im_start|>"],
    "qwen3": ["<|endoftext|>", "<|im_end|>", "<|im_start|>"],
    "gemma2": ["<bos>", "<end_of_turn>", "<start_of_turn>", "<eos>"],
    "gemma3": ["<bos>", "<end_of_turn>", "<start_of_turn>", "<eos>"],
    "mistral": ["<s>", "</s>", "[INST]", "[/INST]"],
    "phi3_5": ["<s>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|endoftext|>"],
}
END_OF_TEXT = {"gemma2": "<eos>", "gemma3": "<eos>", "phi3_5": "<|endoftext|>"}  # the others use the end of a turn
NOT_SPECIAL = {"qwen3": ["<think>", "</think>"]}  # added tokens that count as text


@cache
def tokenizer_of(family: str) -> PreTrainedTokenizerFast:
    """Builds a byte-level BPE of 400 tokens with the family's special tokens and its chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIALS[family],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS] * 4, trainer)
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in NOT_SPECIAL.get(family, [])])
    first, end_of_turn, *_ = SPECIALS[family]
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        name_or_path=family,
        bos_token=first,
        pad_token=first,
        eos_token=END_OF_TEXT.get(family, end_of_turn),
    )
    fast.chat_template = (TEMPLATES / f"{family}.jinja").read_text(encoding="utf-8")
    return fast
