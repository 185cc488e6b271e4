import numpy as np
import pytest
import torch
from sets import cache, learn, look, secret_pairs, tiny_base
from test_policy import disturb, same_gradients, trl_trainer

from tandem_trainer.baselines import RejectionFineTuning, multi_turn_dpo
from tandem_trainer.config import PolicyConfig
from tandem_trainer.turn import Turn

torch.set_num_threads(1)


def test_multi_turn_dpo_learns_to_prefer_the_better_trajectories(tmp_path):
    base = tiny_base(tmp_path)
    objective = multi_turn_dpo(PolicyConfig(), cache(base, tmp_path))
    before, after = learn(base, objective, secret_pairs(8, seed=0), secret_pairs(8, seed=1))
    assert after["loss"] < before["loss"] and after["accuracy"] == 1


def test_rejection_fine_tuning_makes_the_good_trajectories_likelier(tmp_path):
    base = tiny_base(tmp_path)
    before, after = learn(base, RejectionFineTuning(cache(base, tmp_path)), secret_pairs(8, 0), secret_pairs(8, 1))
    assert after["loss"] < before["loss"] - 1 and after["loss"] == after["nll"]


def test_multi_turn_dpo_is_that_of_trl_on_whole_dialogues_with_the_user_masked(tmp_path):
    pairs = secret_pairs(2, seed=0)
    base = tiny_base(tmp_path, training="full")
    objective = multi_turn_dpo(PolicyConfig(beta=0.3, nll=0.0), cache(base, tmp_path))
    objective.precompute(pairs)
    disturb(base.model)
    loss, _ = objective.loss(base.model, pairs)
    (loss / 2).backward()

    trainer = trl_trainer(tmp_path, base.tokenizer, beta=0.3)
    disturb(trainer.model)
    dialogues = [pair.chosen for pair in pairs] + [pair.rejected for pair in pairs]
    rows = [np.concatenate([dialogue[-1].prompt, dialogue[-1].response]) for dialogue in dialogues]
    masks = [agent_tokens(dialogue, len(row)) for dialogue, row in zip(dialogues, rows, strict=True)]
    assert [mask.sum() for mask in masks] == [5] * 4 and {len(row) for row in rows} == {11}
    batch = {
        "input_ids": torch.from_numpy(np.stack(rows)).long(),
        "attention_mask": torch.ones(4, 11, dtype=torch.long),
        "completion_mask": torch.from_numpy(np.stack(masks)),
    }
    theirs = trainer.compute_loss(trainer.model, batch)
    theirs.backward()
    assert loss.item() / 2 == pytest.approx(theirs.item(), abs=1e-6)
    assert same_gradients(base.model, trainer.model)


def agent_tokens(dialogue: tuple[Turn, ...], length: int) -> np.ndarray:
    mask = np.zeros(length, np.int64)
    for turn in dialogue:
        mask[len(turn.prompt) : len(turn.prompt) + len(turn.response)] = 1
    return mask


def test_no_baseline_touches_what_the_collaborator_wrote(tmp_path):
    """Shows that another reply changes only the loss of later turns: its own tokens are in no response."""
    base = tiny_base(tmp_path)
    pairs = secret_pairs(1, seed=0)
    rft = RejectionFineTuning(cache(base, tmp_path))
    assert rft.loss(base.model, pairs)[1]["tokens"] == 10  # both sides; two and three tokens of the agent each
    nll = look(base, rft, pairs)["nll"]
    spoken = torch.cat(rft.log_probs(base.model, pairs[0].chosen))
    assert nll == pytest.approx(-spoken.mean().item(), abs=1e-6) and len(spoken) == 5
