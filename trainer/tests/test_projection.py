import math

import numpy as np
import pytest
import torch
from models import tiny_tokenizer
from sets import cache, ids, learn, tiny_base
from tiny_run import events, states, tiny_run, train

from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import rank
from tandem_trainer.methods.sweet_rl_variants import Projection, weighted_candidates
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Candidates, History, Ranked, Turn

torch.set_num_threads(1)

PROMPT = ids(3, 4, 5)
COUNTS = {"a": 4, "b": 2, "c": 1, "d": 1}  # π_ref is 1/2, 1/4, 1/8, 1/8, and the samples are as it says
SCORES = {"a": 0.0, "b": 1.0, "c": 2.0, "d": -1.0}
TOKENS = {text: number for number, text in enumerate(COUNTS)}


def ranked(counts=COUNTS, scores=SCORES) -> Ranked:
    texts = tuple(text for text, count in counts.items() for _ in range(count))
    turns = tuple(Turn(PROMPT, ids(40 + TOKENS[text], 2), sampled=True) for text in texts)
    values = np.array([scores[text] for text in texts], np.float32)
    return rank(Candidates(History("dialogue/0", PROMPT, PROMPT), turns, texts), values, values)


@pytest.mark.parametrize("lam", [0.25, 1.0, 5.0])
def test_the_optimum_is_the_reference_tilted_by_the_scores(lam):
    """A policy over four turns that are the whole support."""
    examples = weighted_candidates([ranked()], lam)
    weights = torch.tensor([example.weight for example in examples])
    logits = torch.zeros(4, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=200, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = -(weights * torch.log_softmax(logits, 0)).sum()
        value.backward()
        return value

    optimiser.step(loss)
    best = torch.tensor([COUNTS[text] * math.exp(SCORES[text] / lam) for text in COUNTS])
    torch.testing.assert_close(torch.softmax(logits.detach(), 0), best / best.sum(), atol=1e-4, rtol=1e-3)


def test_a_weight_nears_the_number_of_copies_or_goes_to_the_best_candidate_alone():
    def weights(lam):
        return [example.weight for example in weighted_candidates([ranked()], lam)]

    assert weights(1e9) == pytest.approx([4, 2, 1, 1])
    assert weights(1e-3) == pytest.approx([0, 0, 8, 0])
    assert sum(weights(1.0)) == pytest.approx(8)


def test_equal_scores_of_a_history_hold_the_policy_to_its_samples_and_of_all_are_refused():
    same = ranked(scores=dict.fromkeys(SCORES, 0.5))
    assert [example.weight for example in weighted_candidates([same], 0.3)] == pytest.approx([4, 2, 1, 1])
    with pytest.raises(Fault, match="have the same score"):
        weighted_candidates([same], 0.0)


def test_the_policy_learns_turns_by_their_weights(tmp_path):
    base = tiny_base(tmp_path)
    examples = weighted_candidates([ranked(dict.fromkeys(COUNTS, 1))], 0.1)
    before, after = learn(base, Projection(cache(base, tmp_path)), examples, examples)
    assert after["loss"] < before["loss"] and "kl" not in after
    turns = [example.chosen[0] for example in examples]
    with torch.no_grad():
        live = [tokens.sum().item() for tokens in Projection(cache(base, tmp_path)).log_probs(base.model, turns)]
    assert max(range(4), key=live.__getitem__) == TOKENS["c"]


def test_a_run_with_the_loss_goes_to_its_end(tmp_path):
    path = tiny_run(tmp_path, data={"held_out": 0.0}, critic={"score": "untrained"}, policy={"loss": "projection"})
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    assert states(path)[-1] == ("done", "export")
    (ranking,) = events(path, "ranking")
    (result,) = events(path, "result")
    policy = result["stages"]["policy"]
    # Every distinct candidate is an example, where nothing is held out.
    assert policy["train_examples"] == ranking["candidates"]


def test_human_preferences_beside_it_are_refused(tmp_path):
    path = tiny_run(tmp_path, preferences=True, policy={"loss": "projection"})
    with pytest.raises(Fault, match="a choice without a signal"):
        prepare(read_config(path), Template(tiny_tokenizer()))
