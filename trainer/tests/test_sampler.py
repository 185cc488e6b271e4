import numpy as np
import torch

from tandem_trainer.config import CandidatesConfig
from tandem_trainer.run.sampler import draw

PROBABILITIES = torch.tensor([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
MANY = 20_000


def drawn(settings: CandidatesConfig, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rows = PROBABILITIES.log().expand(MANY, -1)
    tokens, said = draw(rows, settings, torch.Generator().manual_seed(seed))
    return tokens.numpy(), said.numpy()


def test_tokens_come_as_often_as_they_are_probable_and_never_where_they_are_not():
    tokens, said = drawn(CandidatesConfig())
    shares = np.bincount(tokens, minlength=6) / MANY
    # Tolerance: five standard errors of the most variable share, √(0.25 / 20,000).
    assert np.abs(shares - PROBABILITIES.numpy()).max() < 5 * 0.5 / MANY**0.5
    assert shares[[0, 2, 5]].sum() == 0
    assert np.allclose(np.exp(said), PROBABILITIES.numpy()[tokens])


def test_top_p_leaves_the_most_probable_tokens_that_reach_it_together():
    tokens, said = drawn(CandidatesConfig(top_p=0.7))
    assert set(tokens) == {1, 3}
    assert np.allclose(np.exp(said), np.where(tokens == 1, 0.5, 0.3) / 0.8)


def test_the_generator_alone_decides_what_is_drawn():
    first, again, other = drawn(CandidatesConfig())[0], drawn(CandidatesConfig())[0], drawn(CandidatesConfig(), 1)[0]
    assert (first == again).all() and (first != other).any()
