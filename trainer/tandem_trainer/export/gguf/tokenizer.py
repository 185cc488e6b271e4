"""Converts the tokenizer of a GGUF file to `tokenizers` and back: tokens, merges, pre-tokenizer and chat template.

A GGUF file only names its pre-tokenizer (`tokenizer.ggml.pre`), whose code is in llama.cpp (src/llama-vocab.cpp); a
folder contains the rules. With other rules, numbers would become other tokens.
"""

import json
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from ...fault import UsageFault
from .container import GgufFile

NORMAL, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 3, 4, 5, 6
PARTS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
LLAMA_3, QWEN_2 = PARTS.format(digits=r"\p{N}{1,3}"), PARTS.format(digits=r"\p{N}")
BY_PATTERN = {"llama-bpe": LLAMA_3, "qwen2": QWEN_2}
SAME = {  # other names of the same pre-tokenizer
    **dict.fromkeys(("llama3", "llama-v3"), "llama-bpe"),
    "deepseek-r1-qwen": "qwen2",
    **dict.fromkeys(("starcoder", "refact", "codeshell"), "smollm"),
    "phi-2": "gpt-2",
}
KNOWN = ("gpt-2", "smollm", *BY_PATTERN)


def pre_tokenizer(name: str) -> pre_tokenizers.PreTokenizer:
    if name in BY_PATTERN:
        split = pre_tokenizers.Split(Regex(BY_PATTERN[name]), "isolated", invert=False)
        return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if name == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytes_])
    return bytes_


# ---- from a file


def read_tokenizer(file: GgufFile) -> PreTrainedTokenizerFast:
    """Errors: UsageFault for an unsupported or incomplete tokenizer."""
    kind = file.value("tokenizer.ggml.model", str)
    tokens, types = file.values("tokenizer.ggml.tokens", str), file.values("tokenizer.ggml.token_type", int)
    ids = {key: file.value(f"tokenizer.ggml.{key}_token_id", int) for key in ("bos", "eos", "unknown", "padding")}
    ends = [*(file.value(f"tokenizer.ggml.{key}_token_id", int) for key in ("eot", "eom")), *ids.values()]
    if not tokens or len(types) != len(tokens) or any(id is not None and not 0 <= id < len(tokens) for id in ends):
        raise file.damaged()
    if "token_embd.weight" in file.tensors and file.tensors["token_embd.weight"].shape[0] != len(tokens):
        raise file.damaged()
    named = {key: None if id is None else tokens[id] for key, id in ids.items()}
    if kind == "gpt2":
        tokenizer = _byte_level(file, tokens)
    elif kind == "llama":
        tokenizer = _sentence_piece(file, tokens, named["unknown"])
    else:
        raise UsageFault(f"{file.path} has a tokenizer of the kind {kind}, and gpt2 and llama are converted.")
    for type_, special in ((CONTROL, True), (USER_DEFINED, False)):
        added = [token for token, of in zip(tokens, types, strict=True) if of == type_]
        tokenizer.add_tokens([AddedToken(token, special=special, normalized=False) for token in added])
    begins = file.value("tokenizer.ggml.add_bos_token", bool, kind == "llama" or _pre(file) == "llama-bpe")
    around = {
        "bos": bool(begins) and ids["bos"] is not None,
        "eos": file.value("tokenizer.ggml.add_eos_token", bool, False) and ids["eos"] is not None,
    }
    if any(around.values()):
        first, last = (named[key] if around[key] else "" for key in ("bos", "eos"))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}".strip(),
            pair=f"{first} $A $B {last}".strip(),
            special_tokens=[(named[key], ids[key]) for key in ("bos", "eos") if around[key]],
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=named["bos"],
        eos_token=named["eos"],
        unk_token=named["unknown"],
        pad_token=named["padding"],
        clean_up_tokenization_spaces=False,
    )
    template = file.value("tokenizer.chat_template", str)
    others = file.values("tokenizer.chat_templates", str)
    texts = {name: file.value(f"tokenizer.chat_template.{name}", str) for name in others}
    templates = {name: text for name, text in {"default": template, **texts}.items() if text is not None}
    fast.chat_template = templates if templates.keys() - {"default"} else template
    return fast


def _pre(file: GgufFile) -> str:
    name = file.value("tokenizer.ggml.pre", str, "")
    return SAME.get(name, name)


def _byte_level(file: GgufFile, tokens: list[str]) -> Tokenizer:
    name = _pre(file)
    if name not in KNOWN:
        raise UsageFault(
            f"{file.path} splits text by the pre-tokenizer {name or 'default'}, and {', '.join(KNOWN)} are known: take "
            "the model's own folder from where it was published."
        )
    merges = [merge.split(" ") for merge in file.values("tokenizer.ggml.merges", str)]
    vocabulary = {token: id for id, token in enumerate(tokens)}
    if not merges or any(
        len(merge) != 2 or any(piece not in vocabulary for piece in (*merge, "".join(merge))) for merge in merges
    ):
        raise file.damaged()
    pairs = [(left, right) for left, right in merges]
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs, ignore_merges=name == "llama-bpe"))
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizer(name)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


MAX_PIECE = 512  # characters; each is tried as the place where two pieces met


def _sentence_piece(file: GgufFile, tokens: list[str], unknown: str | None) -> Tokenizer:
    """Builds a SentencePiece BPE: scores of tokens give the order of merges, unknown text becomes bytes."""
    scores = file.values("tokenizer.ggml.scores", float)
    if len(scores) != len(tokens) or max(map(len, tokens), default=0) > MAX_PIECE:
        raise file.damaged()
    vocabulary = {token: id for id, token in enumerate(tokens)}
    merges = [
        (-scores[id], vocabulary[token[:at]], vocabulary[token[at:]], token[:at], token[at:])
        for token, id in vocabulary.items()
        for at in range(1, len(token))
        if token[:at] in vocabulary and token[at:] in vocabulary
    ]
    pairs = [(left, right) for *_, left, right in sorted(merges)]
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    spaces = [normalizers.Replace(" ", "▁")]
    last = []
    if file.value("tokenizer.ggml.add_space_prefix", bool, True):
        spaces.insert(0, normalizers.Prepend("▁"))
        last = [decoders.Strip(" ", 1, 0)]
    tokenizer.normalizer = normalizers.Sequence(spaces)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *last])
    return tokenizer


# ---- to a file


def tokenizer_metadata(tokenizer: PreTrainedTokenizerBase, rows: int, folder: str) -> dict[str, Any]:
    """rows: of the embedding, at least the number of tokens. Errors: UsageFault for an unsupported tokenizer."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    model, added = content["model"], {token["id"]: token for token in content["added_tokens"]}
    name = next((name for name in KNOWN if _same(content["pre_tokenizer"], name)), None)
    if model["type"] != "BPE" or name is None:
        raise UsageFault(
            f"The tokenizer in {folder} is none that llama.cpp has by one of the names {', '.join(KNOWN)}: convert the "
            "model with llama.cpp's own convert_hf_to_gguf.py."
        )
    words = {id: word for word, id in model["vocab"].items()} | {id: token["content"] for id, token in added.items()}
    if max(words) >= rows:
        raise UsageFault(f"The tokenizer in {folder} has {max(words) + 1} tokens, its model {rows} rows for them.")

    def type_of(id: int) -> int:
        if id in added:
            return CONTROL if added[id]["special"] else USER_DEFINED
        return NORMAL if id in words else UNUSED

    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    bos = tokenizer.bos_token_id
    metadata = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": name,
        "tokenizer.ggml.tokens": [words.get(id, f"[PAD{id}]") for id in range(rows)],
        "tokenizer.ggml.token_type": [type_of(id) for id in range(rows)],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": bos,
        "tokenizer.ggml.eos_token_id": tokenizer.eos_token_id,
        "tokenizer.ggml.unknown_token_id": tokenizer.unk_token_id,
        "tokenizer.ggml.padding_token_id": tokenizer.pad_token_id,
        "tokenizer.ggml.add_eos_token": tokenizer.eos_token_id is not None
        and tokenizer("a")["input_ids"][-1:] == [tokenizer.eos_token_id],
        "tokenizer.ggml.add_bos_token": bos is not None and tokenizer("a")["input_ids"][:1] == [bos],
        **template_metadata(tokenizer.chat_template),
    }
    return {key: value for key, value in metadata.items() if value is not None}


def template_metadata(template: str | dict[str, str]) -> dict[str, Any]:
    """Named templates besides the default one have keys of their own, as in llama.cpp's own converter."""
    if isinstance(template, str):
        return {"tokenizer.chat_template": template}
    others = {name: text for name, text in template.items() if name != "default"}
    return {
        "tokenizer.chat_template": template["default"],
        "tokenizer.chat_templates": list(others) or None,
        **{f"tokenizer.chat_template.{name}": text for name, text in others.items()},
    }


def _same(content: dict | None, name: str) -> bool:
    """True if a pre-tokenizer splits text as llama.cpp's of this name; offsets are ignored."""

    def parts(of: dict | None) -> list[dict]:
        steps = [of] if of is None or of["type"] != "Sequence" else of["pretokenizers"]
        return [{key: value for key, value in (step or {}).items() if key != "trim_offsets"} for step in steps]

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer(name)
    return parts(content) == parts(json.loads(tokenizer.to_str())["pre_tokenizer"])
