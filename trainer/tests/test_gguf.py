"""Conversion between GGUF files and model folders loses nothing."""

import base64
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from models import tiny_model
from tokenizers import processors
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.__main__ import _command
from tandem_trainer.config import ModelConfig
from tandem_trainer.export.gguf.blocks import KINDS, dequantise
from tandem_trainer.export.gguf.container import GgufFile, write_gguf
from tandem_trainer.export.gguf.model import halves_apart, halves_together
from tandem_trainer.export.gguf.tokenizer import KNOWN, pre_tokenizer, read_tokenizer
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.fault import Fault
from tandem_trainer.model.folder import find_model, license_of

torch.set_num_threads(1)

BLOCKS = json.loads((Path(__file__).parent / "golden" / "gguf-blocks.json").read_text())["types"]
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 1024}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
TEXT = "<|im_start|>user\nWhat of 12345 days, don't you know?  \n\n<|im_end|>\nÄ 日本"


def convert(*arguments) -> None:
    assert _command(["convert", *map(str, arguments)]) == 0


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """Writes a tiny Llama in float32."""
    folder = tmp_path_factory.mktemp("llama")
    convert(tiny_model(folder / "own"), folder / "tiny.gguf", "--precision", "fp32")
    return folder / "tiny.gguf"


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("llama", {"rms_norm_eps": 1e-2}),
        ("llama", {"rope_parameters": LLAMA3, "tie_word_embeddings": True}),
        ("llama", {"attention_bias": True, "mlp_bias": True, "rope_parameters": YARN}),
        ("llama", {"rope_parameters": LINEAR}),
        ("llama", {"rope_parameters": {**YARN, "attention_factor": 1.5, "beta_fast": 24.0, "beta_slow": 2.0}}),
        ("qwen2", {"head_dim": 8}),
        ("qwen3", {}),
    ],
    ids=["epsilon", "rope scaled, tied", "biases, yarn", "linear", "yarn of one's own", "qwen2", "qwen3"],
)
def test_a_folder_that_became_a_file_and_a_folder_again_is_the_same_model(family, settings, tmp_path, capsys):
    own = tiny_model(tmp_path / "own", family, **settings)
    convert(own, tmp_path / "tiny.gguf", "--precision", "fp32")
    convert(tmp_path / "tiny.gguf", tmp_path / "again")
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["made"] for each in made] == [str(tmp_path / "tiny.gguf"), str(tmp_path / "again")]
    assert [each["precision"] for each in made] == ["fp32", "fp32"]
    one, other = (AutoModelForCausalLM.from_pretrained(folder) for folder in (own, tmp_path / "again"))
    ids = torch.arange(3, 300)[None]
    assert torch.equal(one(input_ids=ids).logits, other(input_ids=ids).logits)
    assert one.generation_config.eos_token_id == other.generation_config.eos_token_id
    before, after = (AutoTokenizer.from_pretrained(folder) for folder in (own, tmp_path / "again"))
    assert before(TEXT)["input_ids"] == after(TEXT)["input_ids"]
    assert before.chat_template == after.chat_template
    assert before.special_tokens_map == after.special_tokens_map
    find_model(ModelConfig(base=str(tmp_path / "again")), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "own", "tiny.gguf"]


LINEAR_KEYS = {"llama.rope.scaling.type": None, "llama.rope.scaling.factor": None}


@pytest.mark.parametrize(
    ("rope", "written"),
    [
        (LINEAR, {**LINEAR_KEYS, "llama.rope.scale_linear": 4.0}),
        (LINEAR, {"llama.rope.scaling.type": None}),
        (YARN, {"llama.rope.scaling.original_context_length": None, "llama.context_length": 1024}),
        ({"rope_type": "default", "rope_theta": 1e4}, {"llama.rope.scaling.type": "linear"}),
        (
            {"rope_type": "default", "rope_theta": 1e4},
            {"llama.rope.scaling.type": "none", "llama.rope.scaling.factor": 4.0},
        ),
    ],
    ids=["the old key", "a factor without a type", "yarn without a length", "a type without a factor", "none"],
)
def test_positions_are_read_as_llama_cpp_reads_them(rope, written, tmp_path):
    own = tiny_model(tmp_path / "own", rope_parameters=rope)
    convert(own, tmp_path / "tiny.gguf", "--precision", "fp32")
    convert(rewritten(tmp_path / "tiny.gguf", tmp_path / "other.gguf", written), tmp_path / "again")
    one, other = (AutoModelForCausalLM.from_pretrained(folder) for folder in (own, tmp_path / "again"))
    ids = torch.arange(3, 300)[None]
    assert torch.equal(one(input_ids=ids).logits, other(input_ids=ids).logits)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rope_parameters": {**YARN, "truncate": False}}, "says truncate of its rotary embedding"),
        ({"rope_parameters": {**YARN, "mscale": 0.7, "mscale_all_dim": 0.7}}, "says mscale of its rotary embedding"),
        ({"rope_parameters": {**LINEAR, "partial_rotary_factor": 0.5}}, r"rotates a share of 0\.5"),
        ({"hidden_act": "gelu"}, "has the activation gelu"),
    ],
)
def test_what_a_file_cannot_say_of_a_folder_is_refused_by_name(settings, sentence, tmp_path):
    own = tiny_model(tmp_path / "own", **settings)
    with pytest.raises(Fault, match=sentence):
        convert(own, tmp_path / "tiny.gguf")
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_ends_of_a_turn_and_tokens_around_a_text_are_kept(tmp_path):
    own = tiny_model(tmp_path / "own")
    tokenizer = AutoTokenizer.from_pretrained(own)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|im_end|>", pair="$A $B <|im_end|>", special_tokens=[("<|im_end|>", tokenizer.eos_token_id)]
    )
    tokenizer.save_pretrained(own)
    (own / "generation_config.json").write_text(json.dumps({"eos_token_id": [0, 1, 2]}))
    convert(own, tmp_path / "tiny.gguf")
    convert(tmp_path / "tiny.gguf", tmp_path / "again")
    assert json.loads((tmp_path / "again" / "generation_config.json").read_text())["eos_token_id"] == [0, 1, 2]
    after = AutoTokenizer.from_pretrained(tmp_path / "again")
    assert tokenizer("a")["input_ids"] == after("a")["input_ids"]
    (own / "generation_config.json").write_text(json.dumps({"eos_token_id": [0, 1, 2, 3]}))
    with pytest.raises(Fault, match="ends a turn by 4 tokens"):
        convert(own, tmp_path / "other.gguf")


def test_named_templates_are_kept_and_a_folder_without_a_default_one_is_refused(tmp_path):
    own = tiny_model(tmp_path / "own")
    tokenizer = AutoTokenizer.from_pretrained(own)
    tokenizer.chat_template = {"default": tokenizer.chat_template, "tool_use": "tools {{ messages }}"}
    tokenizer.save_pretrained(own)
    convert(own, tmp_path / "tiny.gguf")
    convert(tmp_path / "tiny.gguf", tmp_path / "again")
    assert AutoTokenizer.from_pretrained(tmp_path / "again").chat_template == tokenizer.chat_template
    (own / "chat_template.jinja").unlink()
    with pytest.raises(Fault, match="has the chat templates tool_use and none that is the default"):
        convert(own, tmp_path / "other.gguf")


@pytest.mark.parametrize(("license", "named_as"), [("apache-2.0", "apache-2.0"), ("Free: for all", None)])
def test_the_license_of_a_file_goes_into_the_card_as_an_identifier_or_in_its_text(license, named_as, file, tmp_path):
    named = rewritten(file, tmp_path / "named.gguf", {"general.license": license})
    convert(named, tmp_path / "folder")
    assert license_of(tmp_path / "folder") == named_as
    assert license in (tmp_path / "folder" / "README.md").read_text(encoding="utf-8")
    convert(tmp_path / "folder", tmp_path / "again.gguf")
    assert GgufFile(tmp_path / "again.gguf").metadata.get("general.license") == named_as


def test_weights_in_8_bits_are_within_a_step_and_the_graph_of_the_folder_holds(tmp_path):
    own = tiny_model(tmp_path / "own", head_dim=16)
    convert(own, tmp_path / "tiny.gguf")
    assert GgufFile(tmp_path / "tiny.gguf").tensors["blk.0.ffn_up.weight"].kind == "Q8_0"
    convert(tmp_path / "tiny.gguf", tmp_path / "again", "--precision", "bf16")
    before, after = (AutoModelForCausalLM.from_pretrained(folder, dtype="auto") for folder in (own, tmp_path / "again"))
    assert after.dtype == torch.bfloat16
    for one, other in zip(before.parameters(), after.parameters(), strict=True):
        assert (one - other).abs().max() <= one.abs().max() / 64
    assert len(export_onnx(tmp_path / "again", ["fp32"], lambda sentence: None)[0]) == 1


@pytest.mark.parametrize("kind", BLOCKS)
def test_quantised_numbers_are_those_that_the_published_reader_gives(kind):
    read, numbers = (base64.b64decode(BLOCKS[kind][part]) for part in ("bytes", "numbers"))
    assert len(read) == 2 * KINDS[kind].bytes
    assert np.array_equal(dequantise(np.frombuffer(read, np.uint8), kind), np.frombuffer(numbers, "<f4"))


def test_the_two_numbers_that_are_rotated_together_are_neighbours_in_a_file():
    rows = np.arange(8)  # two heads of four
    assert halves_together(rows, 2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert halves_apart(halves_together(rows, 2), 2).tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("gpt-2", ["It", "Ġ'", "s", "Ġ2026", ",", "Ġdon", "'t"]),
        ("smollm", ["It", "Ġ'", "s", "Ġ", "2", "0", "2", "6", ",", "Ġdon", "'t"]),
        ("llama-bpe", ["It", "Ġ'", "s", "Ġ", "202", "6", ",", "Ġdon", "'t"]),
        ("qwen2", ["It", "Ġ'", "s", "Ġ", "2", "0", "2", "6", ",", "Ġdon", "'t"]),
    ],
)
def test_text_is_split_as_the_name_of_the_pre_tokenizer_says(name, pieces, file, tmp_path):
    assert [piece for piece, _ in pre_tokenizer(name).pre_tokenize_str("It 's 2026, don't")] == pieces
    renamed = rewritten(file, tmp_path / "renamed.gguf", {"tokenizer.ggml.pre": name})
    convert(renamed, tmp_path / "folder")
    convert(tmp_path / "folder", tmp_path / "again.gguf")
    assert GgufFile(tmp_path / "again.gguf").metadata["tokenizer.ggml.pre"] == name
    assert name in KNOWN


def test_a_tokenizer_with_scores_merges_by_them_and_falls_back_to_bytes(file, tmp_path):
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    words = ["▁", "t", "h", "e", "th", "the", "▁the", "▁t", "he"]
    tokens = ["<unk>", "<s>", "</s>", *bytes_, *words]
    tokens += [f"[PAD{number}]" for number in range(320 - len(tokens))]
    about = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 259 + [-9.0] * 4 + [-1.0, -2.0, -3.0, -4.0, -5.0] + [-99.0] * 52,
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * 9 + [5] * 52,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_bos_token": None,
    }
    tokenizer = read_tokenizer(GgufFile(rewritten(file, tmp_path / "scores.gguf", about)))
    assert tokenizer.tokenize("the é") == ["▁the", "▁", "<0xC3>", "<0xA9>"]
    assert tokenizer("the")["input_ids"] == [1, tokens.index("▁the")]
    assert tokenizer.decode(tokenizer("the é</s>", add_special_tokens=False)["input_ids"]) == "the é</s>"


def rewritten(file: Path, to: Path, changes: dict, without: tuple[str, ...] = ()) -> Path:
    """Writes the file with changed metadata. Keys with the value None are removed."""
    own = GgufFile(file)
    metadata = {key: value for key, value in {**own.metadata, **changes}.items() if value is not None}
    tensors = [(name, tensor.shape, tensor.kind) for name, tensor in own.tensors.items() if name not in without]
    write_gguf(to, metadata, tensors, own.numbers)
    return to


@pytest.mark.parametrize(
    ("changes", "without", "sentence"),
    [
        ({"general.architecture": "gemma3"}, (), "of the architecture gemma3"),
        ({"llama.expert_count": 8}, (), "is a mixture of experts"),
        ({"llama.block_count": None}, (), r"does not say llama\.block_count"),
        ({"llama.block_count": 3}, (), "9 tensors are missing"),
        ({}, ("blk.1.attn_q.weight",), r"such as model\.layers\.1\.self_attn\.q_proj\.weight"),
        ({"llama.attention.head_count": [4, 2]}, (), r"differ in attention\.head_count"),
        ({"llama.rope.scaling.type": "longrope"}, (), "scales its rotary embedding by longrope"),
        ({"tokenizer.ggml.pre": "tekken"}, (), "pre-tokenizer tekken"),
        ({"tokenizer.ggml.model": "t5"}, (), "a tokenizer of the kind t5"),
        ({"tokenizer.ggml.eos_token_id": 999}, (), "is damaged"),
        ({"tokenizer.ggml.merges": ["one"]}, (), "is damaged"),
        ({"tokenizer.ggml.merges": ["< |endoftext|>"]}, (), "is damaged"),
        ({"llama.\nblock": 1}, (), "is damaged"),
        (
            {
                "tokenizer.ggml.model": "llama",
                "tokenizer.ggml.tokens": ["a" * 2**20, *map(str, range(319))],
                "tokenizer.ggml.token_type": [1] * 320,
                "tokenizer.ggml.scores": [0.0] * 320,
                "tokenizer.ggml.eos_token_id": 1,
                "tokenizer.ggml.padding_token_id": 1,
            },
            (),
            "is damaged",
        ),
        ({"tokenizer.ggml.merges": [1]}, (), r"unusable tokenizer\.ggml\.merges"),
        ({"tokenizer.ggml.bos_token_id": float("nan")}, (), r"unusable tokenizer\.ggml\.bos_token_id"),
        ({"tokenizer.ggml.tokens": ["a"], "tokenizer.ggml.token_type": [1]}, (), "is damaged"),
        (
            {
                "tokenizer.ggml.tokens": ["a", "b", "c"],
                "tokenizer.ggml.token_type": [1, 1, 1],
                "tokenizer.ggml.eos_token_id": 1,
                "tokenizer.ggml.padding_token_id": 1,
            },
            (),
            "is damaged",
        ),
        ({"llama.rope.dimension_count": 4}, (), "rotates 4 of the 8 numbers of a head"),
        ({"llama.attention.value_length": 4}, (), "keys and values of .* differ in length"),
        ({"llama.attention.scale": 0.5}, (), r"scales its attention by 0\.5"),
        ({"llama.attention.sliding_window": 64}, (), r"has llama\.attention\.sliding_window = 64"),
        ({"llama.rope.scaling.yarn_log_multiplier": 0.1}, (), r"has llama\.rope\.scaling\.yarn_log_multiplier"),
        ({"llama.rope.dimension_sections": [1, 2]}, (), r"has llama\.rope\.dimension_sections"),
        ({"llama.final_logit_softcapping": 30.0}, (), r"has llama\.final_logit_softcapping = 30"),
        ({"llama.rope.scaling.attn_factor": 2.0}, (), "scales its rotated numbers by 2"),
        ({"llama.rope.freq_base": 0.0}, (), "is damaged"),
        ({"llama.rope.freq_base": float("nan")}, (), r"unusable llama\.rope\.freq_base"),
        ({"llama.rope.scaling.factor": float("inf")}, (), r"unusable llama\.rope\.scaling\.factor"),
        ({"llama.rope.scaling.type": 3}, (), r"unusable llama\.rope\.scaling\.type"),
        ({"llama.block_count": 2**32 - 1}, (), "4294967295"),
        ({"llama.block_count": 2**30}, (), "is damaged"),
        ({"llama.attention.head_count": 0}, (), r"unusable llama\.attention\.head_count"),
        ({"llama.attention.head_count": 2**31 - 1, "llama.attention.head_count_kv": None}, (), "damaged|not the model"),
        ({"llama.feed_forward_length": 2**31 - 1, "llama.attention.key_length": 2**31 - 2}, (), "rotates 8 of the"),
        ({"general.alignment": 0}, (), "is damaged"),
        ({"general.alignment": "wide"}, (), "is damaged"),
        ({"general.architecture": "lla\nma"}, (), r"unusable general\.architecture \('lla\\nma'\)"),
        ({"general.architecture": ["llama"]}, (), r"unusable general\.architecture"),
    ],
)
def test_what_is_not_converted_is_refused_in_a_sentence(changes, without, sentence, file, tmp_path):
    other = rewritten(file, tmp_path / "other.gguf", changes, without)
    with pytest.raises(Fault, match=sentence):
        convert(other, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["other.gguf"]


def test_a_file_that_is_cut_short_or_none_is_refused_in_a_sentence_wherever_it_ends(file, tmp_path):
    whole = file.read_bytes()
    for length in (*range(4, 2000, 97), len(whole) // 2, len(whole) - 40_000, len(whole) - 64):
        (tmp_path / "part.gguf").write_bytes(whole[:length])
        with pytest.raises(Fault, match=r"part\.gguf is damaged or not all of it came"):
            convert(tmp_path / "part.gguf", tmp_path / "folder")
    for content in (b"", b"PK\3\4 something else"):
        (tmp_path / "part.gguf").write_bytes(content)
        with pytest.raises(Fault, match=r"part\.gguf (is no GGUF file|cannot be read)"):
            convert(tmp_path / "part.gguf", tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["part.gguf"]


def test_hostile_numbers_of_the_container_are_one_sentence_and_take_no_memory(file, tmp_path):
    whole = file.read_bytes()
    name = b"blk.0.ffn_up.weight"
    info = whole.index(name) + len(name)  # u32 dimensions, u64 of each, u32 type, u64 offset
    tokens = whole.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens")  # u32 array, u32 string, u64 items

    def at(place: int, form: str, *numbers) -> bytes:
        changed = bytearray(whole)
        struct.pack_into(f"<{form}", changed, place, *numbers)
        return bytes(changed)

    hostile = {
        "tensors": at(8, "Q", 2**63),
        "values": at(16, "Q", 2**63),
        "a name": at(24, "Q", 2**63 - 1),
        "an array": at(tokens + 8, "Q", 2**62),
        "an array of arrays": at(tokens + 4, "I", 9),
        "a string": at(tokens + 16, "Q", 2**64 - 1),
        "no dimensions": at(info, "I", 0),
        "many dimensions": at(info, "I", 2**31),
        "a dimension of zero": at(info + 4, "Q", 0),
        "a huge dimension": at(info + 4, "Q", 2**63),
        "an offset outside": at(info + 4 + 16 + 4, "Q", 2**63),
        "an offset over another": at(info + 4 + 16 + 4, "Q", 0),
        "zeros": b"GGUF" + struct.pack("<I", 3) + struct.pack("<QQ", 2**40, 2**40) + bytes(1 << 20),
    }
    for content in hostile.values():
        (tmp_path / "hostile.gguf").write_bytes(content)
        with pytest.raises(Fault, match=r"hostile\.gguf is damaged or not all of it came"):
            convert(tmp_path / "hostile.gguf", tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.gguf"]


def test_a_pipe_or_a_device_in_the_place_of_a_file_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "zero.gguf").symlink_to("/dev/zero")
    for name, kind in (("pipe", "a pipe"), ("zero", "a device")):
        with pytest.raises(Fault, match=rf"{name}\.gguf is {kind} and no regular file"):
            convert(tmp_path / f"{name}.gguf", tmp_path / "folder")


def test_a_coarse_type_and_a_wrong_use_are_refused_in_a_sentence(file, tmp_path):
    coarse = bytearray(file.read_bytes())
    name = b"blk.0.ffn_up.weight"
    coarse[coarse.index(name) + len(name) + 4 + 16] = 11
    (tmp_path / "coarse.gguf").write_bytes(coarse)
    (tmp_path / "there").mkdir()
    for arguments, sentence in (
        ((tmp_path / "coarse.gguf", tmp_path / "folder"), "type number 11"),
        ((file, tmp_path / "there"), "there is there already"),
        ((tmp_path / "nowhere", tmp_path / "folder"), "There is no .*nowhere"),
        ((file, tmp_path / "folder", "--precision", "q8_0"), 'not "q8_0"'),
    ):
        with pytest.raises(Fault, match=sentence):
            convert(*arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coarse.gguf", "there"]


def test_a_gguf_file_that_is_given_as_model_says_what_it_is_and_both_ways_on(file, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "tiny.gguf").write_bytes(file.read_bytes())
    both = r"tiny\.gguf is a GGUF file, .* `tandem convert .*tiny\.gguf .*/tiny`, or let llama\.cpp serve the file"
    for base in (alone, alone / "tiny.gguf"):
        with pytest.raises(Fault, match=both):
            find_model(ModelConfig(base=str(base)), tmp_path)
        with pytest.raises(Fault, match=both):
            export_onnx(base, ["fp32"], print)
    convert(alone, tmp_path / "folder")
    assert (tmp_path / "folder" / "config.json").exists()
