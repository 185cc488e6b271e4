"""Reads a run as before training, for `test_check.py`. It must not import torch."""

from pathlib import Path

from tandem_trainer.model.folder import context_length, find_model, load_template
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config


def as_read(run_json) -> list:
    """Returns every id and text that tokenizer, template and data of a run produce."""
    config, folder = read_config(Path(run_json)), Path(run_json).parent
    path = find_model(config.model, folder)
    template = load_template(config.model, path, folder)
    prepared = prepare(config, template, context_length(path))
    rendered = [template.render(dialogue.messages) for dialogue in prepared.dialogues]
    ids = [ids.tolist() for ids in template.encoder.encode(rendered)]
    return [prepared.fingerprint(), prepared.counts, rendered, ids, template.end_of_turn, context_length(path)]
