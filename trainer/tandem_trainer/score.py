"""`score`: which turns of any trajectories were good, by an exported critic.

    python -m tandem_trainer score --critic FOLDER --out OUT.jsonl [--tokens] [--base FOLDER] TRAJECTORIES …

A trajectory is a row of a file (published or exported, graded or not) or one of a Tandem data folder's log. The critic
goes over all turns, then the base that it was trained with, each alone in memory. One row comes out for each:

    {"id", "task", "reward", "turns": [{"turn", "tokens", "advantage", "untrained"}]}

advantage: eq. 3 of SWEET-RL (arXiv 2503.15478), the mean log-ratio of the turn's tokens in nats; the sum for a critic
without length normalisation. Of a value head instead the logit of the reward that it predicts after the turn.
untrained: the control, what the base alone would have said (`ranking.py`); null without hidden information.
With --tokens each turn also has `token_ids`, their `texts`, `log_ratios` and `untrained_log_ratios`, whose means or
sums these are.
"""

import argparse
import json
import sys
from pathlib import Path

from .imports import importing
from .result.critic_file import read_critic_file, reference_of


def main(arguments: list[str]) -> int:
    """Errors: Fault for a folder that is no critic, a base that is gone or another, trajectories of no use."""
    parser = argparse.ArgumentParser(prog="tandem_trainer score", description="Turn advantages of any trajectories.")
    parser.add_argument("--critic", type=Path, required=True, help="folder of an exported critic")
    parser.add_argument("--out", type=Path, required=True, help="file for the rows")
    parser.add_argument("--tokens", action="store_true", help="the log-ratio of every token as well")
    parser.add_argument("--base", help="where the base is now, if not where it was in training")
    parser.add_argument("--device", choices=["auto", "cuda", "mps", "cpu"], default="auto")
    parser.add_argument("trajectories", nargs="+", type=Path, help="files of rows, or Tandem data folders")
    given = parser.parse_args(arguments)
    critic = read_critic_file(given.critic)
    reference = reference_of(critic, given.critic, given.base)

    # Only now: these import torch, and a folder that is no critic is to be told at once.
    with importing():
        from .advantages import score_files
        from .running.whole_file import write_whole

    rows = score_files(critic, given.critic, given.trajectories, reference, given.device, with_tokens=given.tokens)
    write_whole(given.out, b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))
    print(f"{len(rows)} trajectories are in {given.out}.", file=sys.stderr)
    return 0
