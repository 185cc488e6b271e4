"""The untrained baseline is measured on the same pairs as the critic."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from sets import cache, tiny_base
from test_critic import disturb, straight
from tiny_run import trajectory_rows, write_lines

from tandem_trainer.config import CriticConfig
from tandem_trainer.data.pairs import trajectory_pairs
from tandem_trainer.data.rows import read_rows
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle
from tandem_trainer.methods.sweet_rl_variants import untrained_accuracy

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def played(tmp_path_factory, base):
    """Returns the template, the dialogues of four tasks, and a function that makes the critic's pairs."""
    rows = tmp_path_factory.mktemp("played") / "rows.jsonl"
    write_lines(rows, trajectory_rows(tasks=4))
    template = Template(base.tokenizer)
    dialogues = settle(template, read_rows([rows]).dialogues).dialogues
    return (
        template,
        dialogues,
        lambda hidden: trajectory_pairs(dialogues, partial(template.all_turns, hidden=hidden), "paper"),
    )


@pytest.fixture(scope="module")
def ratios(base, played):
    """Computes by dialogue the base's log-ratios of each turn, with against without hidden information, row by row."""
    template, dialogues, pairs_of = played
    plain = {one.id: template.turns(one) for one in dialogues}
    sides = [side for pair in pairs_of(True) for side in zip(pair.dialogues, (pair.chosen, pair.rejected), strict=True)]
    with base.reference():
        return {
            id: [
                straight(base.model, told) - straight(base.model, other)
                for told, other in zip(seen, plain[id], strict=True)
            ]
            for id, seen in dict(sides).items()
        }


def measured(base, tmp_path, played, settings: CriticConfig, convention="paper", dialogues=None) -> dict:
    template, settled, pairs_of = played
    pairs = pairs_of(settings.hidden_information)
    reference = cache(base, tmp_path)
    reference.compute([turn for pair in pairs for turn in pair.turns])
    return untrained_accuracy(settings, convention, reference, template, dialogues or settled, pairs)


@pytest.mark.parametrize("length_normalisation", [True, False])
def test_it_is_that_of_a_straight_computation_whatever_the_critic_has_learned(
    tmp_path, base, played, ratios, length_normalisation
):
    def advantage(id) -> float:
        return sum((one.mean() if length_normalisation else one.sum()).item() for one in ratios[id])

    pairs = played[2](True)
    right = [advantage(pair.dialogues[0]) > advantage(pair.dialogues[1]) for pair in pairs]
    assert 0 < sum(right) < len(right)  # otherwise the test would prove little
    with base.adapter("critic"):
        disturb(base)
        figures = measured(base, tmp_path, played, CriticConfig(length_normalisation=length_normalisation))
    assert figures == {"accuracy": pytest.approx(sum(right) / len(right)), "examples": len(right)}


def test_it_is_the_same_beside_a_critic_that_does_not_read_the_hidden_information(tmp_path, base, played):
    of_both = [
        measured(base, tmp_path, played, CriticConfig(hidden_information=hidden), "reference-code")
        for hidden in (True, False)
    ]
    assert of_both[0] == of_both[1] != {}


def test_there_is_none_where_a_pair_cannot_be_read_with_the_hidden_information(tmp_path, base, played):
    settings = CriticConfig(hidden_information=False)
    without = [replace(one, hidden_information=None) for one in played[1]]
    assert measured(base, tmp_path, played, settings, dialogues=without) == {}
    longest = max(len(turn.prompt) + len(turn.response) for pair in played[2](False) for turn in pair.turns)
    assert measured(base, tmp_path, played, replace(settings, max_tokens=longest)) == {}
