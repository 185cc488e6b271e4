"""Two steps of TRL's GRPOTrainer on the starter model, against a server at the address in the first argument.

Prints one JSON object: the rewards of the steps, whether the weights moved, and for the first batch the developer's
masked texts and the agent's, decoded.
"""

import json
import sys
import tempfile

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from tandem_env import dataset
from tandem_env.grpo import Dialogues, reward

url, model = sys.argv[1:]
torch.manual_seed(1)
torch.set_num_threads(1)
rows = dataset(url)
dialogues = Dialogues(url, rows)
played = []


def rollout(prompts, trainer):
    made = dialogues(prompts, trainer)
    played.append(made)
    return made


with tempfile.TemporaryDirectory() as folder:
    trainer = GRPOTrainer(
        model,
        reward_funcs=reward,
        rollout_func=rollout,
        train_dataset=Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=4,
            num_generations=4,
            max_steps=2,
            max_completion_length=64,
            learning_rate=1e-3,
            use_cpu=True,
            bf16=False,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
        ),
    )
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    moved = any(not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters(), strict=True))
dialogues.close()


def said(by: int) -> list[str]:
    first = played[0]
    pairs = zip(first["completion_ids"], first["env_mask"], strict=True)
    return [
        trainer.processing_class.decode([id for id, own in zip(ids, mask, strict=True) if own == by])
        for ids, mask in pairs
    ]


rewards = [each for made in played for each in made["tandem_reward"]]
print(json.dumps({"rewards": rewards, "moved": moved, "agent": said(1), "developer": said(0)}))
