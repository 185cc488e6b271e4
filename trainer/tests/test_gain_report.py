"""Turn credits of a critic are compared with the measured gains of a page's drafts."""

import numpy as np
import pytest

from tandem_trainer.run.critic_report import mean_correlation, turn_gains


def test_a_turn_gains_what_its_draft_scores_above_the_one_before():
    drafts = [(0, 0.5), (2, 0.75), (3, 0.625)]
    assert turn_gains(drafts, 5).tolist() == [0.5, 0.0, 0.25, -0.125, 0.0]
    assert turn_gains([], 2).tolist() == [0.0, 0.0]


def test_the_correlation_is_the_mean_over_dialogues_that_vary():
    # Ranks 1 2 3 against 1 2 3: ρ = 1. Against 2 1 3: ρ = 1 − 6 · (1 + 1) / (3 · 8) = 1/2.
    credits = [np.array([0.1, 0.2, 0.9]), np.array([0.2, 0.1, 0.9]), np.array([0.3, 0.3]), np.array([0.1])]
    gains = [np.array([0.0, 0.1, 0.2])] * 2 + [np.array([0.5, 0.1]), np.array([0.5])]
    count, mean, low, high = mean_correlation(credits, gains)
    assert (count, mean) == (2, pytest.approx(0.75))
    # Of two dialogues a resample has the mean 1/2 or 1 a quarter of the time each.
    assert (low, high) == pytest.approx((0.5, 1.0))


def test_one_dialogue_has_no_interval_and_none_has_no_correlation():
    count, mean, low, high = mean_correlation([np.array([1.0, 2.0])], [np.array([2.0, 1.0])])
    assert (count, mean) == (1, pytest.approx(-1.0))
    assert np.isnan([low, high]).all()
    count, *rest = mean_correlation([], [])
    assert count == 0 and np.isnan(rest).all()
