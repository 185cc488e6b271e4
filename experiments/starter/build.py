"""Makes the starter model's folder from its documents: tokenizer, weights and settings in Hugging Face's format.

    python -m starter.build DOCUMENTS.jsonl FOLDER WIDTH

Equal documents give equal files on one machine with one version of PyTorch; others may round sums differently.
"""

import sys
import time
from pathlib import Path

import torch
from transformers import GenerationConfig
from transformers.utils import logging

from . import tokenizer as vocabulary
from .documents import Encoder, read, texts
from .pretrain import Settings, new_model, pretrain

MERGES = 256  # for text outside the world


def build(documents_file: Path, folder: Path, settings: Settings) -> None:
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # turns off a check that costs time
    logging.disable_progress_bar()
    language, documents = read(documents_file)
    world = texts(document for document in documents if "foreign" not in document)
    foreign = texts(document for document in documents if "foreign" in document)
    tokenizer = vocabulary.train(language, world, foreign, MERGES)
    encoder = Encoder(tokenizer, language, documents)
    encoded = [encoder.encode(document) for document in documents]
    model = new_model(tokenizer, settings)
    say(
        f"Learning from {len(documents):,} documents of {sum(map(len, encoded)):,} tokens: a vocabulary of "
        f"{len(tokenizer):,}, {model.num_parameters():,} parameters …"
    )
    begun = time.monotonic()
    pretrain(model, encoded, settings, say)
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=1.0, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    say(f"Learned in {time.monotonic() - begun:.0f} s and written to {folder}.")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), Settings(width=int(sys.argv[3])))
