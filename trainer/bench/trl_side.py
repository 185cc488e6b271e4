"""TRL's DPOTrainer on the given pairs. `against_trl.py` runs this, each time in a new process."""

import argparse
import json
import time

import torch
from datasets import Dataset
from measure import peak_mb
from peft import LoraConfig
from rows import PAIRS, row_tokens, words
from transformers import AutoModelForCausalLM, TrainerCallback
from trl import DPOConfig, DPOTrainer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--stage", choices=list(PAIRS), required=True)
    parser.add_argument("--training", choices=["lora", "full"], required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rows", type=int, default=None, help="pairs in a forward pass; none: the whole batch")
    parser.add_argument("--precompute", action="store_true", help="the reference once, before training")
    parser.add_argument("--keep-activations", action="store_true", help="no gradient checkpointing")
    arguments = parser.parse_args()

    before = peak_mb()
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=getattr(torch, arguments.dtype))
    if torch.cuda.is_available():
        model.cuda()
    pairs = PAIRS[arguments.stage](model.config.vocab_size, arguments.batch * (arguments.steps + 1))
    clock, epochs = Clock(), 4 if arguments.stage == "critic" else 1
    rows = arguments.rows or arguments.batch
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")
    trainer = DPOTrainer(
        model=model,
        args=DPOConfig(
            output_dir="/tmp/tandem-bench-trl", max_length=None, bf16=arguments.dtype == "bfloat16", beta=0.1,
            per_device_train_batch_size=rows, gradient_accumulation_steps=arguments.batch // rows,
            max_steps=arguments.steps + 1, learning_rate=1e-5, report_to=[], save_strategy="no", disable_tqdm=True,
            logging_steps=1_000, use_cpu=not torch.cuda.is_available(), precompute_ref_log_probs=arguments.precompute,
            gradient_checkpointing=not arguments.keep_activations,
        ),
        train_dataset=Dataset.from_list([as_text(pair) for pair in pairs]),
        processing_class=words(model.config.vocab_size),
        peft_config=lora if arguments.training == "lora" else None,
        callbacks=[clock],
    )  # fmt: skip
    trainer.train()
    # The first step warms up; TRL shuffles, so the tokens of an average batch are counted for each step.
    measured = arguments.steps / (arguments.steps + 1)
    seconds = sum(clock.seconds[1:]) + clock.reference * measured / epochs
    tokens = row_tokens(pairs) * measured
    print(json.dumps({"tokens_per_second": tokens / seconds, "memory_mb": peak_mb() - before, "seconds": seconds}))


class Clock(TrainerCallback):
    """Records the seconds of each optimiser step and of precomputed reference log-probabilities."""

    def __init__(self):
        self.seconds: list[float] = []
        self.reference = 0.0
        precompute = DPOTrainer._precompute_ref_logps

        def timed(*given):
            begun = time.perf_counter()
            done = precompute(*given)
            self.reference += time.perf_counter() - begun
            return done

        DPOTrainer._precompute_ref_logps = timed

    def on_step_begin(self, *_, **__):
        self.begun = time.perf_counter()

    def on_step_end(self, *_, **__):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.seconds.append(time.perf_counter() - self.begun)


def as_text(pair) -> dict[str, str]:
    """Converts the pair to TRL's format. Each id becomes one word, so that TRL's tokenizer restores the same ids."""
    prompt = pair.chosen[0].prompt

    def text(ids) -> str:
        return " ".join(f"t{token}" for token in ids)

    def rest(side) -> str:
        whole = [*side[-1].prompt, *side[-1].response]
        return " " + text(whole[len(prompt) :])

    return {"prompt": text(prompt), "chosen": rest(pair.chosen), "rejected": rest(pair.rejected)}


if __name__ == "__main__":
    main()
