"""Reads exported files with other people's tools, and prints what these made of them as one JSON object.

Usage: read_exports.py TOOL FOLDER TOKENIZER. The folder has one file per format of `tandem export`, named after it; the
tokenizer is a model folder with a chat template.

TRL trains one step of each trainer. Of LLaMA-Factory the reader, the converter, the template and the tokenization run,
of Axolotl the strategies that its `type:` names choose: their whole lists of packages exclude each other's and TRL's.
"""

import importlib.machinery
import json
import sys
import types
from pathlib import Path

tool, folder, tokenizer_folder = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


def tokenizer():
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tokenizer_folder)


def rows_of(name):
    from datasets import load_dataset

    return load_dataset(
        "json",
        data_files=str(folder / name),
        split="train",
        cache_dir=str(folder / "cache"),
    )


def trl():
    from transformers import AutoConfig, AutoModelForCausalLM
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer
    from trl.data_utils import is_conversational
    from trl.experimental.kto import KTOConfig, KTOTrainer

    config = AutoConfig.from_pretrained(tokenizer_folder)
    common = {
        "max_steps": 1,
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "save_strategy": "no",
    }
    common |= {
        "per_device_train_batch_size": 2,
        "output_dir": str(folder / "trl"),
        "disable_tqdm": True,
    }
    read = {}
    for name, trainer, settings in (
        ("chat", SFTTrainer, SFTConfig),
        ("preferences", DPOTrainer, DPOConfig),
        ("choices", DPOTrainer, DPOConfig),
        ("unpaired", KTOTrainer, KTOConfig),
        ("replies", SFTTrainer, SFTConfig),
        ("edits", DPOTrainer, DPOConfig),
    ):
        rows = rows_of(f"{name}.jsonl")
        model = AutoModelForCausalLM.from_config(config)
        trained = trainer(
            model=model,
            args=settings(**common),
            train_dataset=rows,
            processing_class=tokenizer(),
        )
        steps = trained.train().global_step
        read[name] = {
            "rows": len(rows),
            "conversational": is_conversational(rows[0]),
            "steps": steps,
        }
    steps = rows_of("stepwise.jsonl")
    read["stepwise"] = {
        "rows": len(steps),
        "columns": [steps[0][name] for name in ("completions", "labels")],
    }
    return read


def llamafactory():
    # Sound is not read here, and no build of torchaudio fits the torch that TRL brings.
    sound = types.ModuleType("torchaudio")
    sound.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
    sys.modules["torchaudio"] = sound
    from llamafactory.data.loader import get_dataset
    from llamafactory.data.template import get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments, TrainingArguments

    read = {}
    for name, stage in (("llamafactory-sft", "sft"), ("llamafactory-ranking", "rm")):
        data = DataArguments(template="chatml", dataset=name, dataset_dir=str(folder), cutoff_len=4096)
        model = ModelArguments(model_name_or_path=tokenizer_folder, cache_dir=str(folder / "cache"))
        training = TrainingArguments(output_dir=str(folder / "llamafactory"), use_cpu=True)
        words = tokenizer()
        template = get_template_and_fix_tokenizer(words, data)
        rows = get_dataset(template, model, data, training, stage=stage, tokenizer=words)["train_dataset"]
        read[name] = {"rows": len(rows), "columns": sorted(rows.column_names)}
    return read


def axolotl():
    from axolotl.prompt_strategies import load
    from axolotl.prompt_strategies.dpo import load as load_preferences
    from axolotl.utils.dict import DictDefault
    from yaml import safe_load

    words = tokenizer()

    def configured(name):
        """Returns the configuration in the card of an export, as Axolotl reads it."""
        _, _, after = (folder / f"{name}.jsonl.md").read_text().partition("Axolotl:\n\n```yaml\n")
        return DictDefault({**safe_load(after.partition("\n```")[0]), "sequence_len": 4096})

    config = configured("axolotl-dpo")
    transform, options = load_preferences(config.datasets[0].type, config, dataset_idx=0)
    preferences = rows_of("axolotl-dpo.jsonl").map(lambda row: transform(row, tokenizer=words), **options)
    read = {
        "axolotl-dpo": {
            "rl": config.rl,
            **{name: preferences[0][name] for name in ("chosen", "rejected")},
        }
    }
    for name in ("axolotl-sft", "stepwise"):
        config = configured(name)
        strategy = load(config.datasets[0].type, words, config, config.datasets[0])
        tokenized = [strategy.tokenize_prompt(row) for row in rows_of(f"{name}.jsonl")]
        learned = sum(label != -100 for row in tokenized for label in row["labels"])
        read[name] = {"rows": len(tokenized), "learned": learned}
    return read


def inspect():
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    file = str(folder / "inspect.json")
    log, header = read_eval_log(file), read_eval_log(file, header_only=True)
    sample = log.samples[-1]
    return {
        "status": header.status,
        "mean": header.results.scores[0].metrics["mean"].value,
        "summaries": len(read_eval_log_sample_summaries(file)),
        "samples": [[one.id, one.epoch, one.scores and one.scores["reward"].value] for one in log.samples],
        "messages": [[message.role, message.text] for message in sample.messages],
        "usage": {name: usage.total_tokens for name, usage in sample.model_usage.items()},
        "completion": sample.output.completion,
        "author": sample.messages[2].metadata["author"],
    }


tools = {
    "trl": trl,
    "llamafactory": llamafactory,
    "axolotl": axolotl,
    "inspect": inspect,
}
print(json.dumps(tools[tool]()))
