"""What a run reads before it trains, for `test_check.py`. A process without torch imports it, so nothing here does."""

from pathlib import Path

from tandem_trainer.data.template import Template
from tandem_trainer.model.folder import context_length, find_model, load_tokenizer
from tandem_trainer.read_config import read_config
from tandem_trainer.running.prepare import prepare


def as_read(run_json) -> list:
    """What the tokenizer, the template and the data of a run amount to: every id and every text is in it."""
    config, folder = read_config(Path(run_json)), Path(run_json).parent
    path = find_model(config.model, folder)
    template = Template(load_tokenizer(config.model, path, folder), config.model.template_options)
    prepared = prepare(config, template, context_length(path))
    rendered = [template.render(dialogue.messages) for dialogue in prepared.dialogues]
    ids = [ids.tolist() for ids in template.encoder.encode(rendered)]
    return [prepared.fingerprint(), prepared.counts, rendered, ids, template.end_of_turn, context_length(path)]
