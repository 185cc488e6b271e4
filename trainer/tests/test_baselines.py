import pytest
import torch
from sets import cache, learn, look, secret_pairs, tiny_base

from tandem_trainer.config import PolicyConfig
from tandem_trainer.methods.rft import RejectionFineTuning
from tandem_trainer.methods.sweet_rl import Policy

torch.set_num_threads(1)


def test_multi_turn_dpo_learns_to_prefer_the_better_trajectories(tmp_path):
    base = tiny_base(tmp_path)
    objective = Policy(PolicyConfig(), cache(base, tmp_path))
    before, after = learn(base, objective, secret_pairs(8, seed=0), secret_pairs(8, seed=1))
    assert after["loss"] < before["loss"] and after["accuracy"] == 1


def test_rejection_fine_tuning_makes_the_good_trajectories_likelier(tmp_path):
    base = tiny_base(tmp_path)
    before, after = learn(base, RejectionFineTuning(cache(base, tmp_path)), secret_pairs(8, 0), secret_pairs(8, 1))
    assert after["loss"] < before["loss"] - 1 and after["loss"] == after["nll"]


def test_no_baseline_touches_what_the_collaborator_wrote(tmp_path):
    """Shows that another reply changes only the loss of later turns: its own tokens are in no response."""
    base = tiny_base(tmp_path)
    pairs = secret_pairs(1, seed=0)
    rft = RejectionFineTuning(cache(base, tmp_path))
    assert rft.loss(base.model, pairs)[1]["tokens"] == 10  # both sides; two and three tokens of the agent each
    nll = look(base, rft, pairs)["nll"]
    spoken = torch.cat(rft.log_probs(base.model, pairs[0].chosen))
    assert nll == pytest.approx(-spoken.mean().item(), abs=1e-6) and len(spoken) == 5
