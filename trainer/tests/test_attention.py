import pytest
import torch
import torch.nn.functional as F
from models import tiny_model
from peft import LoraConfig, get_peft_model
from test_log_probs import some_turns
from transformers import AutoModelForCausalLM

from tandem_trainer.model.adapters import add_in_place
from tandem_trainer.model.attention import forest_attention, packed_attention
from tandem_trainer.model.prefix_tree import grow

torch.set_num_threads(1)


class Kernel(torch.autograd.Function):
    """Packed attention by torch's documentation, lane by lane; keeps whole inputs as the real kernel does."""

    @staticmethod
    def forward(ctx, query, key, value, settings):
        ctx.save_for_backward(query, key, value)
        ctx.settings = settings
        return lane_by_lane(query, key, value, *settings)

    @staticmethod
    def backward(ctx, gradient):
        inputs = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
        with torch.enable_grad():
            output = lane_by_lane(*inputs, *ctx.settings)
        return *torch.autograd.grad(output, inputs, gradient), None


def varlen_attn(query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, scale, window_size, enable_gqa):
    assert cu_seq_q.dtype == cu_seq_k.dtype == torch.int32
    assert max_q == cu_seq_q.diff().max()
    assert max_k == cu_seq_k.diff().max()
    assert cu_seq_q[-1] == len(query)
    assert cu_seq_k[-1] == len(key)
    assert enable_gqa == (query.shape[1] != key.shape[1])
    return Kernel.apply(query, key, value, (cu_seq_q.tolist(), cu_seq_k.tolist(), scale, window_size[0]))


def lane_by_lane(query, key, value, query_ends, key_ends, scale, left):
    outputs = []
    for lane in range(len(query_ends) - 1):
        q = query[query_ends[lane] : query_ends[lane + 1]].transpose(0, 1)
        k, v = (tensor[key_ends[lane] : key_ends[lane + 1]].transpose(0, 1) for tensor in (key, value))
        distance = torch.arange(k.shape[1] - q.shape[1], k.shape[1])[:, None] - torch.arange(k.shape[1])
        seen = (distance >= 0) & ((distance <= left) | (left < 0))
        outputs.append(F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale, enable_gqa=True))
    return torch.cat(outputs, dim=1).transpose(0, 1)


def inputs(forest):
    torch.manual_seed(0)
    shapes = [(1, heads, len(forest.ids), 8) for heads in (4, 2, 2)]
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("window", [None, 7])
def test_one_packed_call_is_the_loop_over_segments(window):
    forest = grow(some_turns())
    one, other = inputs(forest), inputs(forest)
    packed = packed_attention(varlen_attn, *one, forest, 0.3, window)
    loop, _ = forest_attention(None, *other, None, forest=forest, scaling=0.3, sliding_window=window)
    torch.testing.assert_close(packed, loop)
    for ours, theirs in zip(
        torch.autograd.grad(packed.sin().sum(), one), torch.autograd.grad(loop.sin().sum(), other), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("window", "softcap"), [(None, None), (7, 5.0)])
def test_blocks_of_queries_give_the_same_as_all_at_once(monkeypatch, window, softcap):
    forest = grow(some_turns())
    settings = {"forest": forest, "sliding_window": window, "softcap": softcap}
    one, other = inputs(forest), inputs(forest)
    whole, _ = forest_attention(None, *one, None, **settings)
    monkeypatch.setattr("tandem_trainer.model.attention.BLOCK", 3)
    blocks, _ = forest_attention(None, *other, None, **settings)
    torch.testing.assert_close(blocks, whole)
    for ours, theirs in zip(
        torch.autograd.grad(blocks.sin().sum(), other), torch.autograd.grad(whole.sin().sum(), one), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_gathered_keys_are_not_kept_for_the_backward_pass():
    forest = grow(some_turns()[:4])
    query, key, value = inputs(forest)
    output = packed_attention(varlen_attn, query, key, value, forest, None, None)
    kept = output.grad_fn
    while kept.name() != "KernelBackward":
        kept = kept.next_functions[0][0]
    gathered = kept.saved_tensors[1]
    assert len(gathered) > len(forest.ids)
    assert kept.saved_tensors[1].data_ptr() != gathered.data_ptr()  # gathered again on each access


def test_unknown_changes_of_scores_are_refused():
    forest = grow(some_turns()[:2])
    with pytest.raises(NotImplementedError, match="s_aux"):
        forest_attention(None, *inputs(forest), None, forest=forest, s_aux=torch.zeros(4))


def test_adding_in_place_is_what_peft_computes(tmp_path):
    model = AutoModelForCausalLM.from_pretrained(tiny_model(tmp_path, "qwen2"))
    model = get_peft_model(model, LoraConfig(r=4, lora_alpha=6, target_modules="all-linear", task_type="CAUSAL_LM"))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    ids = torch.arange(3, 20)[None]

    def figures():
        model.zero_grad()
        logits = model(ids).logits
        logits.sin().sum().backward()
        return [logits, *(weight.grad for weight in model.parameters() if weight.grad is not None)]

    def of_base_and_merged():
        with torch.no_grad(), model.disable_adapter():
            base = model(ids).logits
        model.merge_adapter()
        merged = model(ids).logits
        model.unmerge_adapter()
        return [base, merged]

    of_peft = [*figures(), *of_base_and_merged()]
    add_in_place(model)
    for ours, theirs in zip([*figures(), *of_base_and_merged()], of_peft, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
