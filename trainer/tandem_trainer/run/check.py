"""`check` reports on a run.json and its data before anything is loaded or launched.

    python -m tandem_trainer check run.json [--json]

Reads the configuration, the tokenizer and the data, no weights, and imports no torch: `__main__.py` leaves it out.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import importing
from ..run_json import read_config
from .interpreter import require_cluster, require_online

VERSION = 1
SHOWN = 5  # bad lines in the text output; the JSON lists up to a hundred
LISTED = 100


def main(arguments: list[str]) -> int:
    """Errors: UsageFault for a configuration or data that cannot be used."""
    parser = argparse.ArgumentParser(prog="tandem_trainer check", description="Is run.json sound, and what is in it?")
    parser.add_argument("run_json", type=Path, metavar="run.json")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    config = read_config(given.run_json)
    require_online(config.method, plays=bool(config.data.tasks))
    if config.resources.cluster is not None:
        require_cluster()

    # These import transformers, which takes seconds; a bad configuration is reported before.
    with importing():
        from ..export.onnx.shape import require_exportable
        from ..model.folder import context_length, find_model, load_template, quiet
        from .prepare import prepare
        from .resume import as_begun

    quiet()
    folder = given.run_json.resolve().parent
    path = find_model(as_begun(config.model, folder), folder, weights=False)
    require_exportable(config.export, path)
    template = load_template(config.model, path, folder)
    prepared = prepare(config, template, context_length(path))
    problems = [str(problem) for problem in prepared.problems]
    shortages = [asdict(each) for each in prepared.shortages]
    if given.json:
        about = {"version": VERSION, "method": config.method, **prepared.counts, "shortages": shortages}
        print(json.dumps({**about, "notices": prepared.notices, "problems": problems[:LISTED]}, ensure_ascii=False))
    else:
        notices = [*prepared.notices, *(each["sentence"] for each in shortages)]
        print(as_text(config.method, prepared.counts, notices, problems))
    return 0


def as_text(method: str, counts: dict[str, Any], notices: list[str], problems: list[str]) -> str:
    lines = [
        f"{'method':14} {method}",
        f"{'trajectories':14} {counts['trajectories']:,} of {counts['tasks']:,} tasks, "
        f"{counts['successes']:,} successes",
        f"{'turns':14} {counts['turns']:,} with {counts['tokens']:,} tokens, {counts['turns_as_sampled']:,} of them as "
        "they were sampled",
    ]
    if counts["preferences"]:
        lines.append(f"{'preferences':14} {counts['preferences']:,}")
    if counts["feedback"]:
        lines.append(f"{'feedback':14} {', '.join(f'{count:,} {name}' for name, count in counts['feedback'].items())}")
    for stage in ("critic", "policy"):
        if counts[stage]["train"]:
            lines.append(
                f"{stage:14} {counts[stage]['train']:,} examples to train on, {counts[stage]['held_out']:,} held out"
            )
    for reason, count in counts["left_out"].items():
        lines.append(f"{'left out':14} {count:,} {reason}")
    if problems:
        lines.append(f"{'bad lines':14} {len(problems):,}, such as:")
        lines += [f"{'':14} {problem}" for problem in problems[:SHOWN]]
    lines += [f"{'note':14} {notice}" for notice in notices]
    return "\n".join(lines)
