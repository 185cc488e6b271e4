"""`score` rates the turns of trajectories with an exported critic.

    python -m tandem_trainer score --critic FOLDER --out OUT.jsonl [--tokens] [--base FOLDER] TRAJECTORIES …

A trajectory is a row of a file, published or exported, graded or not; `tandem score` writes those of a data folder. The
critic reads all turns first, then its base model; only one is in memory at a time. Each trajectory gives one row:

    {"id", "task", "reward", "turns": [{"turn", "tokens", "advantage", "untrained"}]}

advantage: eq. 3 of SWEET-RL (arXiv 2503.15478), the mean log-ratio of the turn's tokens in nats; the sum for a critic
without length normalisation. A critic with a value head gives the logit of the reward predicted after the turn.
untrained: the untrained baseline, the base model's own score; null without hidden information.
gain: only of pages, how much the turn's draft scores above the one before (`critic_report.py`).
With --tokens each turn also has `token_ids`, their `texts`, `log_ratios` and `untrained_log_ratios`, whose means or
sums these are.
"""

import argparse
import json
import sys
from pathlib import Path

from .. import importing
from ..export.critic_file import read_critic_file, reference_of
from .disk_space import write_whole


def main(arguments: list[str]) -> int:
    """Errors: Fault for a folder without a critic, a missing or changed base, unusable trajectories."""
    parser = argparse.ArgumentParser(prog="tandem_trainer score", description="Turn advantages of any trajectories.")
    parser.add_argument("--critic", type=Path, required=True, help="folder of an exported critic")
    parser.add_argument("--out", type=Path, required=True, help="file for the rows")
    parser.add_argument("--tokens", action="store_true", help="the log-ratio of every token as well")
    parser.add_argument("--base", help="where the base is now, if not where it was in training")
    parser.add_argument("--device", choices=["auto", "cuda", "mps", "cpu"], default="auto")
    parser.add_argument("trajectories", nargs="+", type=Path, help="files of rows")
    given = parser.parse_args(arguments)
    critic = read_critic_file(given.critic)
    reference = reference_of(critic, given.critic, given.base)

    # These import torch, which takes seconds; a folder without a critic is reported before.
    with importing():
        from .advantages import score_files
    rows = score_files(critic, given.critic, given.trajectories, reference, given.device, with_tokens=given.tokens)
    write_whole(given.out, b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))
    print(f"{len(rows)} trajectories are in {given.out}.", file=sys.stderr)
    return 0
