"""Tiny models and a tiny tokenizer for the tests: the real classes of transformers, with random weights.

Each family has a part that a packed forward pass could get wrong: grouped keys (all), tied embeddings (Qwen 2,
Gemma 2), normalised queries (Qwen 3), sliding windows (Mistral, Gemma 2), soft-capped scores and logits (Gemma 2),
fused projections (Phi 3).
"""

from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

logging.disable_progress_bar()

FAMILIES = ("llama", "qwen2", "qwen3", "gemma2", "mistral", "phi3")

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

WORDS = (
    "system user assistant OUTPUT: I WANT TO ANSWER: What should the function return when the list is empty? "
    "It returns None. Should the result be sorted? Yes, in ascending order. def solve(values): return sorted(values) "
    "if not values: return 0 for value in values: total = total + value Which argument is the number of days? "
)

LLAMA3 = {  # rotary embedding scaled as by Llama 3
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip

OWN = {  # settings of one family
    "llama": {},
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {"head_dim": 16},
    "gemma2": {
        "head_dim": 16,
        "query_pre_attn_scalar": 16,
        "attn_logit_softcapping": 5.0,
        "final_logit_softcapping": 3.0,
        "sliding_window": 7,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "mistral": {"sliding_window": 7},
    "phi3": {"tie_word_embeddings": False},
    "qwen3_next": {  # has a layer without attention; not in FAMILIES, because it cannot attend over a forest
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_value_heads": 2,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "head_dim": 8,
        "num_experts": 2,
        "num_experts_per_tok": 1,
        "moe_intermediate_size": 32,
        "shared_expert_intermediate_size": 32,
    },
}


@cache
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Builds a byte-level BPE of 320 tokens with a ChatML template; `<|im_end|>` ends a turn and a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([WORDS] * 4, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = CHAT_TEMPLATE
    return fast


def tiny_model(folder: Path, family: str = "llama", *, seed: int = 0, dtype=torch.float32, **settings) -> Path:
    """Writes a model of one of FAMILIES, or of another type, with the tiny tokenizer into `folder` and returns it.

    30,000 to 45,000 parameters: width 32, two layers, four heads over two key heads. `settings` go into config.json.
    """
    tokenizer = tiny_tokenizer()
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "initializer_range": 0.2,  # wide enough that the logits differ visibly
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = AutoConfig.for_model(family, **{**shape, **OWN.get(family, {}), **settings})
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    folder = Path(folder)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_noise(folder: Path) -> None:
    """Moves norms and biases away from one and zero, so that a missing one changes the result."""
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in tensors.items():
        if tensor.ndim == 1:
            tensors[name] = tensor + 0.3 * torch.randn(tensor.shape)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
