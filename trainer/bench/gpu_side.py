"""The single measurements of `gpu.py` that are not steps of a training, each in a process of its own.

Prints one JSON line last.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from measure import clock, peak_mb
from rows import Text, write_model

from tandem_trainer.config import CandidatesConfig, ModelConfig
from tandem_trainer.export.folders import export_model
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import peak_flops
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.sampler import Sampler
from tandem_trainer.run.stop import StopRequest
from tandem_trainer.turn import Turn

PROMPTS, CANDIDATES, LONGEST = 8, 16, 128


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("device")
    write = commands.add_parser("write")
    write.add_argument("shape")
    write.add_argument("folder")
    write.add_argument("dtype")
    for name in ("sample", "vllm"):
        command = commands.add_parser(name)
        command.add_argument("--model", required=True)
        command.add_argument("--dtype", default="bfloat16")
    given = parser.parse_args()
    done = {"device": device, "write": written, "sample": sampled, "vllm": loaded_by_vllm}[given.what](given)
    print(json.dumps(done))


def device(_: argparse.Namespace) -> dict:
    where = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    peak = peak_flops(where, torch.bfloat16 if where.type == "cuda" else torch.float32)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else f"{torch.get_num_threads()} threads"
    return {"device": name, "torch": torch.__version__, "peak_tflops": None if peak is None else peak / 1e12}


def written(given: argparse.Namespace) -> dict:
    return {"parameters": write_model(given.shape, given.folder, given.dtype)}


def sampled(given: argparse.Namespace) -> dict:
    """Samples candidates, and has the trainer compute the same tokens' log-probabilities."""
    with tempfile.TemporaryDirectory() as folder:
        base = load_base(ModelConfig(base=given.model, dtype=given.dtype), run_folder=Path(folder))
        settings = CandidatesConfig(per_turn=CANDIDATES, max_new_tokens=LONGEST)
        sampler = Sampler(base, settings, [], StopRequest(Path(folder)), Events(None))
        text = Text(base.model.config.vocab_size, seed=0)
        prompts = [text.tokens(800, 800) for _ in range(PROMPTS)]
        sampler.sample(prompts[:1], seed=0)  # warms up
        begun = clock()
        turns = [turn for each in sampler.sample(prompts, seed=1) for turn in each]
        seconds = clock() - begun
        with torch.no_grad():
            of_trainer = torch.cat(token_log_probs(base.model, turns[: 2 * CANDIDATES])).cpu().numpy()
    of_sampler = np.concatenate([turn.log_probs for turn in turns[: 2 * CANDIDATES]])
    apart = np.abs(of_trainer - of_sampler)
    return {
        "tokens_per_second": sum(len(turn.response) for turn in turns) / seconds,
        "memory_mb": peak_mb(),
        "remark": f"sampler and trainer {apart.mean():.1e} nats apart in the mean, {apart.max():.1e} at most",
    }


def loaded_by_vllm(given: argparse.Namespace) -> dict:
    """Exports a policy that has moved, and has vLLM write with it."""
    with tempfile.TemporaryDirectory() as folder:
        base = load_base(ModelConfig(base=given.model, dtype=given.dtype), run_folder=Path(folder))
        with torch.no_grad():
            for name, weight in base.trainable():
                if "lora_B" in name:
                    weight.normal_(std=1e-2)
        text = Text(base.model.config.vocab_size, seed=0)
        turns = [Turn(text.tokens(400, 400), text.tokens(60, 60)) for _ in range(4)]
        target = Path(folder) / "exported"
        export_model(base, "policy", target, turns, lambda check: check.sentence)
        del base
        torch.cuda.empty_cache()
        from vllm import LLM, SamplingParams

        engine = LLM(str(target), dtype=given.dtype, gpu_memory_utilization=0.7, max_model_len=2_048)
        prompts = [{"prompt_token_ids": turn.prompt.tolist()} for turn in turns]
        begun = clock()
        answers = engine.generate(prompts, SamplingParams(temperature=1.0, max_tokens=LONGEST, ignore_eos=True))
        seconds = clock() - begun
    return {"tokens_per_second": sum(len(answer.outputs[0].token_ids) for answer in answers) / seconds}


if __name__ == "__main__":
    main()
