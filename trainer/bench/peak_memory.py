"""Compares the process memory of a step with the plan's estimate, on a CPU under Linux.

    python bench/peak_memory.py [tokens]

Each line is a process of its own, once as it is and once with MALLOC_MMAP_THRESHOLD_=1000000, under which freed tensors
go back to the system at once instead of staying, in pieces, in the heap of the C library.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = [
    ("llama", 384, 1024, 6, "float32", "lora"),
    ("llama", 384, 1024, 6, "bfloat16", "lora"),
    ("qwen2", 256, 1408, 8, "float32", "full"),
]


def main() -> None:
    tokens = sys.argv[1] if len(sys.argv) > 1 else "4000"
    for model in MODELS:
        for checkpointed in ("", "checkpointed"):
            command = [sys.executable, __file__, "--one", tokens, *map(str, model), checkpointed]
            for threshold in (None, "1000000"):
                variables = {**os.environ, **({"MALLOC_MMAP_THRESHOLD_": threshold} if threshold else {})}
                done = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
                print(
                    f"{' '.join(map(str, model))} {checkpointed:12} {'given back' if threshold else 'as it is':10}",
                    end="",
                )
                print(done.stdout.strip(), flush=True)


def one(tokens: int, family: str, hidden: int, middle: int, layers: int, dtype: str, training: str, checkpointed: bool):
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]
    import numpy as np
    import torch
    from models import tiny_model

    from tandem_trainer.config import ModelConfig
    from tandem_trainer.model import memory
    from tandem_trainer.model.base import load_base
    from tandem_trainer.model.flops import shape_of
    from tandem_trainer.model.log_probs import token_log_probs
    from tandem_trainer.model.prefix_tree import forest_tokens
    from tandem_trainer.turn import Turn

    def pair(prompt: int, response: int) -> list[Turn]:
        ids = np.random.default_rng(0).integers(0, 300, (3, prompt + response)).astype(np.int32)
        return [Turn(ids[0, :prompt], ids[number, :response]) for number in (1, 2)]

    def status(name: str) -> int:
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
        return int(line.split()[1]) << 10

    with tempfile.TemporaryDirectory() as folder:
        shape = {"hidden_size": hidden, "intermediate_size": middle, "num_hidden_layers": layers}
        heads = {"num_attention_heads": hidden // 64, "num_key_value_heads": 2}
        path = tiny_model(Path(folder) / "base", family, dtype=getattr(torch, dtype), **shape, **heads)
        model = ModelConfig(base=str(path), training=training, device="cpu", dtype=dtype)
        base = load_base(model, run_folder=folder)
        base.checkpoint_activations(checkpointed)
        for turns in (pair(8, 8), pair(tokens - 600, 300)):  # the first pair allocates the gradients
            before = status("VmRSS")
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak
            for _ in range(2):
                torch.cat(token_log_probs(base.model, turns, logits_bytes=8 << 20)).sum().backward()
        measured, shape = status("VmHWM") - before, shape_of(base.model.config)
        estimate = memory.activations(shape, model, dtype, forest_tokens(turns), checkpointed)
        estimate += memory.head(shape, model, dtype, 600, 8 << 20)
    print(f"measured {measured >> 20:5} MiB, estimated {estimate >> 20:5} MiB, {estimate / measured - 1:+.0%}")


if __name__ == "__main__":
    if "--one" in sys.argv:
        tokens, family, hidden, middle, layers, dtype, training, checkpointed = sys.argv[2:]
        one(int(tokens), family, int(hidden), int(middle), int(layers), dtype, training, bool(checkpointed))
    else:
        main()
