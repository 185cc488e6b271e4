import numpy as np
import pytest
import torch
from sets import ASK, BYE, GUESS, cache, ids, learn, look, step_pairs, tiny_base

from tandem_trainer.config import PolicyConfig
from tandem_trainer.methods.sweet_rl import Policy
from tandem_trainer.turn import Example, Turn

torch.set_num_threads(1)


def test_the_policy_learns_to_prefer_the_good_turns(tmp_path):
    base = tiny_base(tmp_path)
    policy = Policy(PolicyConfig(), cache(base, tmp_path))
    before, after = learn(base, policy, step_pairs(8, seed=0), step_pairs(8, seed=1))
    assert before["margin"] == pytest.approx(0, abs=1e-6) and before["kl"] == pytest.approx(0, abs=1e-6)
    assert after["loss"] < before["loss"] and after["accuracy"] == 1
    assert after["log_ratio_chosen"] > 0 > after["log_ratio_rejected"] and after["kl"] > 0


def test_loss_and_gradients_are_those_of_trl(tmp_path):
    """Compares with TRL's DPO trainer, which computes both models in the step on padded rows."""
    pairs = step_pairs(3, seed=0)
    base = tiny_base(tmp_path, training="full")
    policy = Policy(PolicyConfig(beta=0.3, nll=0.0), cache(base, tmp_path))
    policy.precompute(pairs)
    disturb(base.model)
    loss, figures = policy.loss(base.model, pairs)
    (loss / 3).backward()
    trainer = trl_trainer(tmp_path, base.tokenizer, beta=0.3)
    disturb(trainer.model)
    rows = [
        {
            "prompt_ids": pair.chosen[0].prompt.tolist(),
            "chosen_ids": pair.chosen[0].response.tolist(),
            "rejected_ids": pair.rejected[0].response.tolist(),
        }
        for pair in pairs
    ]
    theirs = trainer.compute_loss(trainer.model, trainer.data_collator(rows))
    theirs.backward()
    assert loss.item() / 3 == pytest.approx(theirs.item(), abs=1e-6)
    assert figures["margin"] / 3 == pytest.approx(trainer._metrics["eval"]["rewards/margins"][0], abs=1e-6)
    assert same_gradients(base.model, trainer.model)


def test_the_likelihood_is_of_the_response_or_in_the_reference_code_of_the_prompt_too(tmp_path):
    base = tiny_base(tmp_path)
    (pair,) = step_pairs(1, seed=0)
    row = np.concatenate([pair.chosen[0].prompt, pair.chosen[0].response])
    with torch.no_grad():
        logits = base.model(torch.from_numpy(row).long()[None], use_cache=False).logits[0, :-1]
    nats = torch.nn.functional.cross_entropy(logits, torch.from_numpy(row).long()[1:], reduction="none")
    for convention, tokens in (("paper", nats[-2:]), ("reference-code", nats)):
        policy = Policy(PolicyConfig(nll=1.0), cache(base, tmp_path), convention)
        policy.precompute([pair])
        figures = look(base, policy, [pair])
        assert figures["nll"] == pytest.approx(tokens.mean().item(), abs=1e-5)
        assert figures["loss"] == pytest.approx(np.log(2) + tokens.mean().item(), abs=1e-5)


def test_human_preferences_are_weighted_examples_beside_the_ranked_pairs(tmp_path):
    """Uses a preference for guessing whose weight outvotes eight ranked pairs."""
    base = tiny_base(tmp_path)
    ranked = step_pairs(8, seed=0)
    human = [
        Example("human", (Turn(pair.chosen[0].prompt, ids(GUESS, BYE)),), (Turn(pair.chosen[0].prompt, ids(ASK, BYE)),))
        for pair in ranked[:1]
    ]
    heavy = [Example(one.group, one.chosen, one.rejected, weight=30.0) for one in human]
    policy = Policy(PolicyConfig(nll=0.0), cache(base, tmp_path))
    learn(base, policy, [*ranked, *heavy], ranked)
    assert look(base, policy, human)["accuracy"] == 1


def test_the_kl_figure_is_of_sampled_turns_only(tmp_path):
    base = tiny_base(tmp_path)
    (sampled,) = step_pairs(1, seed=0)
    written = Example("human", *((Turn(t.prompt, t.response),) for t in (*sampled.chosen, *sampled.rejected)))
    policy = Policy(PolicyConfig(), cache(base, tmp_path))
    learn(base, policy, [sampled], [sampled], steps=2)
    alone, both = look(base, policy, [sampled]), look(base, policy, [sampled, written])
    assert "kl" not in look(base, policy, [written])
    assert both["kl"] == pytest.approx(alone["kl"]) and both["margin"] == pytest.approx(alone["margin"], rel=1e-5)


def test_the_difference_to_the_sampler_is_told_where_it_can_be_compared(tmp_path):
    base = tiny_base(tmp_path)
    (pair,) = step_pairs(1, seed=0)
    references = cache(base, tmp_path)
    references.compute(pair.turns)
    said = [log_probs.numpy() for log_probs in references.of(pair.turns)]
    told = [Turn(turn.prompt, turn.response, True, own) for turn, own in zip(pair.turns, said, strict=True)]
    pair = Example(pair.group, (told[0],), (told[1],))
    assert look(base, Policy(PolicyConfig(), references), [pair])["sampler_difference"] < 1e-5
    for own in said:
        own[-1] = np.nan  # the server left out that of the end
    assert look(base, Policy(PolicyConfig(), references), [pair])["sampler_difference"] < 1e-5
    for own in said:
        own[:] = np.nan
    assert "sampler_difference" not in look(base, Policy(PolicyConfig(), references), [pair])
    assert "sampler_difference" not in look(base, Policy(PolicyConfig(), references, plainly_sampled=False), [pair])


def trl_trainer(tmp_path, tokenizer, beta: float, folder=None):
    pytest.importorskip("trl")
    from datasets import Dataset
    from datasets.utils.logging import disable_progress_bar
    from transformers import AutoModelForCausalLM
    from trl import DPOConfig, DPOTrainer

    disable_progress_bar()
    folder = folder or tmp_path / "llama-model"
    arguments = DPOConfig(str(tmp_path / "trl"), beta=beta, report_to=[], use_cpu=True, bf16=False)
    return DPOTrainer(
        AutoModelForCausalLM.from_pretrained(folder),
        AutoModelForCausalLM.from_pretrained(folder),
        arguments,
        train_dataset=Dataset.from_dict({"prompt": ["a"], "chosen": ["b"], "rejected": ["c"]}),
        processing_class=tokenizer,
    )


def disturb(model) -> None:
    """Makes the same change to the same weights of any model."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for _, weight in sorted(model.named_parameters()):
            weight += 0.05 * torch.randn(weight.shape, generator=generator)


def same_gradients(ours, theirs) -> bool:
    gradients = {name: weight.grad for name, weight in theirs.named_parameters()}
    return all(torch.allclose(weight.grad, gradients[name], atol=1e-5) for name, weight in ours.named_parameters())
