import numpy as np
import pytest
import torch
from models import FAMILIES, tiny_model
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from tandem_trainer.model.log_probs import Head, chosen_log_probs, decoder_of, last_hidden, token_log_probs
from tandem_trainer.turn import Turn

torch.set_num_threads(1)


def some_turns(seed: int = 0) -> list[Turn]:
    """Makes candidates over one prompt, two trajectories that differ after a turn, and a separate turn."""
    generator = np.random.default_rng(seed)

    def tokens(size):
        return generator.integers(3, 300, size).astype(np.int32)

    prompt = tokens(20)
    turns = [Turn(prompt, tokens(size)) for size in (5, 9, 1, 7)]
    for first in turns[:2]:
        history = np.concatenate([prompt, first.response, tokens(4)])
        turns += [Turn(history, tokens(6)), Turn(history, tokens(3))]
    return [*turns, turns[1], Turn(tokens(11), tokens(8))]


def by_the_model_itself(model, turns: list[Turn], temperature: float = 1.0) -> list[torch.Tensor]:
    """Computes log-probabilities one turn at a time by the model's own forward pass and full logits."""
    results = []
    for turn in turns:
        row = torch.from_numpy(np.concatenate([turn.prompt, turn.response])).long()
        logits = model(input_ids=row[None, :-1], use_cache=False).logits[0].float() / temperature
        log_probs = logits.log_softmax(-1).gather(1, row[1:, None])[:, 0]
        results.append(log_probs[len(turn.prompt) - 1 :])
    return results


def load(folder, family, **settings):
    return AutoModelForCausalLM.from_pretrained(tiny_model(folder, family, **settings), attn_implementation="eager")


def with_adapter(model):
    model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
    torch.manual_seed(0)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def gradients(model, log_probs) -> dict[str, torch.Tensor]:
    """Returns the gradients of a sum that weights all tokens differently."""
    model.zero_grad()
    sum((turn * torch.arange(1, len(turn) + 1).sin()).sum() for turn in log_probs).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}


def assert_close(ours, theirs, tolerance=2e-5):
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_packed_rows_give_the_same_log_probabilities_as_single_ones(tmp_path, family, shared):
    model = load(tmp_path, family)
    turns, before = some_turns(), model.config._attn_implementation
    decoder_of(model).shares_prefixes = shared
    with torch.no_grad():
        assert_close(token_log_probs(model, turns), by_the_model_itself(model, turns))
    assert decoder_of(model).config._attn_implementation == before != "tandem"


@pytest.mark.parametrize("adapted", [False, True], ids=["full", "adapter"])
@pytest.mark.parametrize("family", FAMILIES)
def test_shared_prefixes_give_the_gradients_of_separate_rows(tmp_path, family, adapted):
    model = load(tmp_path, family)
    model = with_adapter(model) if adapted else model
    turns = some_turns()
    ours = gradients(model, token_log_probs(model, turns))
    theirs = gradients(model, by_the_model_itself(model, turns))
    assert ours.keys() == theirs.keys()
    assert_close(ours.values(), theirs.values(), 2e-4)


@pytest.mark.parametrize(("family", "trainable"), [("llama", False), ("gemma2", True)])
def test_logits_in_pieces_give_the_same_as_all_at_once(tmp_path, family, trainable):
    model = load(tmp_path, family)
    model.get_output_embeddings().weight.requires_grad_(trainable)
    turns = some_turns()
    whole = token_log_probs(model, turns, temperature=0.7)
    pieces = token_log_probs(model, turns, temperature=0.7, logits_bytes=4 * 320 * 5)
    plain = by_the_model_itself(model, turns, temperature=0.7)
    assert_close(whole, plain)
    assert_close(pieces, plain)
    expected = gradients(model, plain)
    assert_close(gradients(model, whole).values(), expected.values(), 2e-4)
    assert_close(gradients(model, pieces).values(), expected.values(), 2e-4)


def test_a_head_with_bias_and_scale_is_the_dense_head():
    torch.manual_seed(0)
    hidden, weight, bias = torch.randn(9, 8), torch.randn(30, 8), torch.randn(30)
    targets = torch.randint(30, (9,))
    for trainable in (True, False):
        leaves = [tensor.clone().requires_grad_() for tensor in (hidden, weight, bias)]
        if not trainable:
            leaves[1:] = [weight, bias]
        ours = chosen_log_probs(leaves[0], targets, Head(leaves[1], leaves[2], 0.5, 2.0), logits_bytes=4 * 30 * 4)
        logits = 2 * torch.tanh(0.5 * (leaves[0] @ leaves[1].T + leaves[2]) / 2)
        dense = logits.log_softmax(-1)[torch.arange(9), targets]
        torch.testing.assert_close(ours, dense)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        weights = torch.randn(9)
        assert_close(torch.autograd.grad(ours @ weights, wanted), torch.autograd.grad(dense @ weights, wanted))


def test_last_hidden_is_the_state_at_the_end_of_each_response(tmp_path):
    model = load(tmp_path, "llama")
    turns = some_turns()
    with torch.no_grad():
        ours = last_hidden(model, turns)
        for state, turn in zip(ours, turns, strict=True):
            row = torch.from_numpy(np.concatenate([turn.prompt, turn.response])).long()
            torch.testing.assert_close(state, model.model(row[None]).last_hidden_state[0, -1], atol=1e-5, rtol=1e-5)
