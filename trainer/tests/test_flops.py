"""Model FLOPs agree with torch's own counter and with counts by hand."""

import numpy as np
import pytest
import torch
from models import tiny_model
from peft import LoraConfig, get_peft_model
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM

from tandem_trainer.model.flops import ATTENTION, MATRIX, attended, flops, peak_flops, shape_of, stated_peak, step_flops
from tandem_trainer.turn import Turn

torch.set_num_threads(1)


def turn(prompt: list[int], response: list[int]) -> Turn:
    return Turn(np.array(prompt, dtype=np.int32), np.array(response, dtype=np.int32))


def counted_by_torch(model, tokens: int, backward: bool) -> float:
    with FlopCounterMode(display=False) as counter:
        logits = model(torch.randint(0, 300, (1, tokens)), use_cache=False).logits
        if backward:
            logits.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "gemma2", "mistral", "phi3"])
def test_forward_and_full_training_agree_with_torchs_counter(tmp_path, family):
    model = AutoModelForCausalLM.from_pretrained(tiny_model(tmp_path, family), attn_implementation="eager")
    shape, tokens = shape_of(model.config), 40
    # Eager attention multiplies whole squares, including the part that the causal mask discards.
    square = shape.layers * shape.heads * shape.head_size * tokens**2
    causal = sum(attended(0, tokens, window) for window in shape.windows) * shape.heads * shape.head_size
    one = turn(list(range(1, tokens)), [0, 1])  # no token attends to the last one, so 40 are computed and two scored
    for work, backward in (("forward", False), ("full", True)):
        ours = step_flops(shape, [one], work) + ATTENTION[work] * (square - causal)
        ours += MATRIX[work] * shape.head * (tokens - 2)  # the plain model makes logits of every token
        assert ours == counted_by_torch(model, tokens, backward)


def test_frozen_matrices_have_no_gradient_of_their_own(tmp_path):
    base = AutoModelForCausalLM.from_pretrained(tiny_model(tmp_path), attn_implementation="eager")
    shape, tokens, rank = shape_of(base.config), 40, 4
    model = get_peft_model(base, LoraConfig(r=rank, target_modules="all-linear", init_lora_weights=False))
    square = 12 * shape.layers * shape.heads * shape.head_size * tokens**2
    adapters = 6 * shape.adapted * rank * tokens
    # No trained weights precede the first layer's queries, keys, values and their adapters, so the gradient
    # of their input is not computed. The formula ignores this, which matters little in deep models.
    first = base.model.layers[0].self_attn
    unneeded = sum(2 * (m.weight.numel() + rank * m.in_features) for m in (first.q_proj, first.k_proj, first.v_proj))
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) == rank * shape.adapted
    ours = 4 * (shape.matrices + shape.head) * tokens + square + adapters - unneeded * tokens
    assert ours == counted_by_torch(model, tokens, backward=True)


def test_a_prefix_shared_by_several_turns_is_counted_once(tmp_path):
    shape = shape_of(AutoConfig.from_pretrained(tiny_model(tmp_path)))
    first, second = turn([5, 6, 7], [8, 9]), turn([5, 6, 7], [10, 11])
    follow_up = turn([5, 6, 7, 8, 9, 11], [12, 13])
    turns = [first, second, follow_up]
    # The tokens that are read: 5 6 7 8 9 11 12 and, after the shared 5 6 7, the 10.
    assert step_flops(shape, turns, "lora") == flops(shape, 8, 6, [(0, 7), (3, 4)], "lora")
    assert step_flops(shape, turns, "lora", shared=False) == flops(shape, 11, 6, [(0, 7), (0, 4)], "lora")


def test_a_sliding_window_bounds_what_a_token_attends_to():
    for first, last, window in ((0, 10, None), (0, 10, 4), (6, 10, 4), (2, 6, 4), (0, 3, 4)):
        assert attended(first, last, window) == sum(min(d + 1, window or 99) for d in range(first, last))


def test_a_model_of_experts_costs_what_its_chosen_experts_cost():
    config = AutoConfig.for_model(
        "qwen3_moe", hidden_size=32, num_hidden_layers=1, moe_intermediate_size=16, num_experts=8,
        num_experts_per_tok=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8, vocab_size=100,
    )  # fmt: skip
    attention, router, expert = 2 * 32 * 32 + 2 * 32 * 16, 32 * 8, 3 * 32 * 16
    assert shape_of(config).matrices == attention + router + 2 * expert


def test_known_devices_have_a_peak_and_unknown_ones_none():
    assert stated_peak("NVIDIA H100 80GB HBM3", torch.bfloat16) == 989e12
    assert stated_peak("NVIDIA GeForce RTX 4070 Ti SUPER", torch.bfloat16) == 88.2e12
    assert stated_peak("Tesla V100-SXM2-16GB", torch.float16) == 125e12
    for card in ("Tesla V100-SXM2-16GB", "NVIDIA GeForce RTX 4090 Laptop GPU", "Some Other Card"):
        assert stated_peak(card, torch.bfloat16) is None


def test_the_cpu_is_measured_and_says_so():
    peak = peak_flops(torch.device("cpu"), torch.float32)
    assert peak > 1e8
    assert peak_flops(torch.device("mps"), torch.float32) is None
