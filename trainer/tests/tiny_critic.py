"""Writes a tiny base and a changed critic, as a run would leave them."""

from pathlib import Path

import torch
from families import tokenizer_of
from models import tiny_model
from sets import overwrite

from tandem_trainer.config import CriticConfig, DataConfig, ModelConfig, RunConfig
from tandem_trainer.data.prompt_file import critic_prompt
from tandem_trainer.data.rows import read_rows
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle
from tandem_trainer.export.folders import export_critic
from tandem_trainer.model.base import Base, load_base


def tiny_critic(folder: Path, template: str = "", convention: str = "paper", **critic) -> tuple[Base, RunConfig]:
    """Writes the base to `folder/base`; only the critic's adapter differs from it.

    template: a family of `families.py` whose tokenizer and chat template replace the tiny one's.
    critic: fields of `CriticConfig`.
    """
    model_folder = tiny_model(folder / "base", head_dim=16, **({"vocab_size": 512} if template else {}))
    if template:
        tokenizer_of(template).save_pretrained(model_folder)
    model = ModelConfig(base=str(model_folder), device="cpu")
    base = load_base(model, run_folder=folder)
    generator = torch.Generator().manual_seed(0)
    with base.adapter("critic"):
        state = {k: w + 0.1 * torch.randn(w.shape, generator=generator) for k, w in base.state().items()}
        overwrite(base.state(), state)
    return base, RunConfig(model=model, data=DataConfig(), convention=convention, critic=CriticConfig(**critic))


def write_critic(folder: Path, rows: Path, **settings) -> Path:
    """Writes the folder `critic` of a run on these rows."""
    base, config = tiny_critic(folder, **settings)
    template = Template(base.tokenizer)
    seen = template.all_turns(settle(template, read_rows([rows]).dialogues).dialogues, hidden=True)
    turns = [turn for of_dialogue in seen for turn in of_dialogue]
    export_critic(base, folder / "critic", turns, lambda check: check.sentence, config, critic_prompt())
    return folder / "critic"
