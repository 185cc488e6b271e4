"""Tandem's trainer against TRL's DPOTrainer: same pairs, same batch, same dtype, same machine, in one run.

    PYTHONPATH=. python bench/against_trl.py       # 30M in float32 on the CPU, both stages, LoRA and full
    PYTHONPATH=. python bench/against_trl.py --shape 1b --dtype bfloat16 --steps 5         # on a GPU
    PYTHONPATH=. python bench/against_trl.py --model $TANDEM_REAL_MODEL/model --stages policy alone --batch 4  # SmolLM2

Each measurement is a process of its own, so that one's memory does not count for another; the sides take turns. TRL
runs as it comes (gradient checkpointing, the reference computed in each step, the whole batch in one pass) and, with
`--tuned`, also with reference log-probabilities precomputed and one pair in a pass. Tokens are those of the pairs as
separate rows without padding, on both sides. Memory is the peak above what the process holds before it loads the model.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rows import PAIRS, write_model

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=["30m", "1b", "8b"], default="30m")
    parser.add_argument("--model", help="the folder of a model, instead of one of random weights")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--stages", nargs="+", choices=list(PAIRS), default=["critic", "policy"])
    parser.add_argument("--training", nargs="+", choices=["lora", "full"], default=["lora", "full"])
    parser.add_argument("--batch", type=int, default=8, help="pairs of one optimiser step")
    parser.add_argument("--steps", type=int, default=2, help="measured steps, after one to warm up")
    parser.add_argument("--repeats", type=int, default=1, help="measurements of each side, in turns; the median counts")
    parser.add_argument("--tuned", action="store_true", help="TRL also with its own options for speed and memory")
    arguments = parser.parse_args()

    sides = {"tandem": ["tandem_side.py"], "TRL": ["trl_side.py"]}
    if arguments.tuned:
        sides["TRL tuned"] = ["trl_side.py", "--precompute", "--rows", "1"]
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or folder
        if arguments.model is None:
            size = write_model(arguments.shape, folder, arguments.dtype)
        else:
            size = sum(file.stat().st_size for file in Path(model).glob("*.safetensors")) // 4
        print(f"{size / 1e6:.0f}M parameters, {arguments.dtype}, {arguments.batch} pairs a step", flush=True)
        print("| stage | training | side | tokens/s | memory, MB | speed of tandem | memory of tandem |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for stage in arguments.stages:
            for training in arguments.training:
                common = ["--model", model, "--stage", stage, "--training", training, "--dtype", arguments.dtype]
                common += ["--batch", str(arguments.batch), "--steps", str(arguments.steps)]
                runs = {name: [] for name in sides}
                for _ in range(arguments.repeats):
                    for name, command in sides.items():
                        runs[name].append(measure([*command, *common]))
                report(stage, training, runs)


def measure(command: list[str]) -> dict[str, float]:
    """Runs one side and parses the JSON line that it prints last."""
    done = subprocess.run(
        [sys.executable, str(HERE / command[0]), *command[1:]], capture_output=True, text=True, cwd=HERE.parent
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def report(stage: str, training: str, runs: dict[str, list[dict[str, float]]]) -> None:
    """Prints a row for each side, with tandem's figures as multiples of that side's."""
    medians = {
        name: {figure: statistics.median(run[figure] for run in of) for figure in ("tokens_per_second", "memory_mb")}
        for name, of in runs.items()
    }
    ours = medians["tandem"]
    for name, figures in medians.items():
        speed = ours["tokens_per_second"] / figures["tokens_per_second"]
        memory = ours["memory_mb"] / figures["memory_mb"]
        print(
            f"| {stage} | {training} | {name} | {figures['tokens_per_second']:.0f} | {figures['memory_mb']:.0f} "
            f"| {speed:.2f}× | {memory:.2f}× |",
            flush=True,
        )


if __name__ == "__main__":
    main()
