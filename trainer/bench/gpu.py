"""Everything that is to be known about one GPU, in one command that ends within nine minutes.

    python bench/gpu.py --out FOLDER                                         # 1B and 8B shapes in bfloat16, on a GPU
    python bench/gpu.py --out FOLDER --shapes 30m --dtype float32 --batch 2  # the script itself, on a processor

Weights are random and nothing is downloaded. Each measurement is a process of its own; the most telling come first,
and those for which no time is left are named as not measured. `FOLDER/gpu.jsonl` has a line for each as it comes.

- speed and memory of both stages against TRL's DPOTrainer, and the use of the device's FLOP/s (MFU)
- the same with 4-bit weights (QLoRA), where bitsandbytes is installed
- what sharing prefixes is worth on this device: each turn as a row of its own
- candidates: tokens/s, and how far the sampler's log-probabilities are from the trainer's
- an exported folder that vLLM loads, where vLLM is installed
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
Figures = dict[str, float | str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shapes", nargs="+", choices=["30m", "1b", "8b"], default=["1b", "8b"])
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--batch", type=int, default=8, help="pairs of a step")
    parser.add_argument("--steps", type=int, default=2, help="measured steps, after one to warm up")
    parser.add_argument("--minutes", type=float, default=8.5, help="after which nothing more is begun")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Session(arguments, Path(folder)).run()


class Session:
    """The measurements of one call, until its time is up."""

    def __init__(self, arguments: argparse.Namespace, folder: Path):
        self.arguments, self.folder = arguments, folder
        self.end = time.monotonic() + 60 * arguments.minutes
        self.lines = (arguments.out / "gpu.jsonl").open("a", encoding="utf-8")

    def run(self) -> None:
        device = self.process("device", ["gpu_side.py", "device"])
        self.note("device", device)
        print(f"{device}\n", flush=True)
        print("| shape | what | side | tokens/s | memory, MB | MFU | |\n|---|---|---|---|---|---|---|", flush=True)
        for shape in self.arguments.shapes:
            model = self.folder / shape
            self.process(shape, ["gpu_side.py", "write", shape, str(model), self.arguments.dtype])
            for what, side, command in self.measurements(shape, model):
                name = f"{shape}, {what}, {side}"
                figures = command if isinstance(command, str) else self.process(name, command)
                self.note(name, figures)
                self.row(shape, what, side, figures)

    def measurements(self, shape: str, model: Path) -> list[tuple[str, str, list[str] | str]]:
        """Returns what is measured of a shape: what, whose, and the command, or why there is none."""
        given = self.arguments
        common = ["--model", str(model), "--dtype", given.dtype]
        steps = ["--batch", str(given.batch), "--steps", str(given.steps)]

        def pair(stage: str, training: str, side: str, *more: str) -> tuple[str, str, list[str]]:
            command = [f"{side.lower()}_side.py", *common, *steps, "--stage", stage, "--training", training, *more]
            return f"{stage}, {training}", side, command

        separate = pair("policy", "lora", "Tandem", "--separate")
        quantised = pair("policy", "qlora", "Tandem")
        if importlib.util.find_spec("bitsandbytes") is None:
            quantised = (*quantised[:2], "bitsandbytes is not installed")
        vllm = ["gpu_side.py", "vllm", *common] if importlib.util.find_spec("vllm") else "vLLM is not installed"
        # A full fine-tuning of 8B in one process needs more than one GPU has.
        full = [] if shape == "8b" else [pair(stage, "full", side) for stage in STAGES for side in SIDES]
        return [
            *(pair("policy", "lora", side) for side in SIDES),
            ("candidates", "Tandem", ["gpu_side.py", "sample", *common]),
            ("policy, lora, no shared prefixes", "Tandem", separate[2]),
            quantised,
            *(pair("critic", "lora", side) for side in SIDES),
            *full,
            ("exported folder", "vLLM", vllm),
        ]

    def process(self, name: str, command: Sequence[str]) -> Figures | str:
        """Returns the figures that a process prints last, or a sentence why there are none."""
        # A slow measurement must not leave the others without time.
        left = min(self.end - time.monotonic(), 60 * self.arguments.minutes / 3)
        if left < 10:
            return "not measured: no time was left"
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(
                [sys.executable, str(HERE / command[0]), *command[1:]],
                **{"capture_output": True, "text": True, "cwd": HERE.parent, "timeout": left},
                env=with_path(),
            )
        except subprocess.TimeoutExpired:
            return f"not measured: {left:.0f} s were not enough"
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
            (self.arguments.out / f"{name.replace(', ', '-').replace(' ', '-')}.log").write_text(done.stderr)
            return f"failed: {last[:200]}"
        return json.loads(done.stdout.strip().splitlines()[-1])

    def note(self, name: str, figures: Figures | str) -> None:
        told = figures if isinstance(figures, dict) else {"why": figures}
        print(json.dumps({"what": name, **told}), file=self.lines, flush=True)

    def row(self, shape: str, what: str, side: str, figures: Figures | str) -> None:
        if isinstance(figures, str):
            cells = ["–", "–", "–", figures]
        else:
            cells = [
                shown(figures, "tokens_per_second"),
                shown(figures, "memory_mb"),
                shown(figures, "mfu", "{:.1%}".format),
                str(figures.get("remark", "")),
            ]
        print(f"| {' | '.join([shape, what, side, *cells])} |", flush=True)


SIDES = ("Tandem", "TRL")
STAGES = ("policy", "critic")


def shown(figures: Figures, name: str, form: Callable[[float], str] = "{:,.0f}".format) -> str:
    value = figures.get(name)
    return "–" if value is None else form(value)


def with_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE.parent), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


if __name__ == "__main__":
    main()
