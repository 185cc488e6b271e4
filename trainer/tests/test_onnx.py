"""Graphs of tiny models agree with PyTorch in ONNX Runtime."""

import json
import shutil

import numpy as np
import pytest
import torch
from models import tiny_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from tandem_trainer.__main__ import _command
from tandem_trainer.export.onnx import decoder, export
from tandem_trainer.export.onnx.compare import LENGTH, Player
from tandem_trainer.export.onnx.decoder import write_player
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.export.onnx.graph import blocks
from tandem_trainer.export.onnx.shape import read_shape
from tandem_trainer.export.onnx.weights import digest
from tandem_trainer.fault import Fault

torch.set_num_threads(1)

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}


def quietly(sentence: str) -> None:
    pass


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("llama", {"rms_norm_eps": 1e-2}),
        ("llama", {"rope_parameters": LLAMA3, "tie_word_embeddings": True}),
        ("llama", {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4}),
        ("qwen2", {}),
        ("qwen3", {}),
        ("mistral", {"sliding_window": 7}),
    ],
    ids=["epsilon", "rope scaled, tied", "biases", "qwen2", "qwen3", "sliding window"],
)
def test_a_graph_gives_the_logits_and_the_text_of_its_model(family, settings, tmp_path):
    folder = tiny_model(tmp_path, family, **{"head_dim": 16, **settings})
    with_noise(folder)

    export_onnx(folder, ["fp32"], quietly)

    model = AutoModelForCausalLM.from_pretrained(folder)
    player = Player(folder / "onnx" / "model.onnx", read_shape(folder))
    prompts = [torch.randint(3, 300, (length,)) for length in (5, 31, 12)]
    for prompt, written in zip(prompts, player.go_on([prompt.numpy() for prompt in prompts], LENGTH), strict=True):
        expected = model.generate(prompt[None], max_new_tokens=LENGTH, do_sample=False, eos_token_id=None)[0]
        assert written == expected[len(prompt) :].tolist()
        logits = model(input_ids=expected[None]).logits[0].detach().numpy()
        assert np.abs(player.logits(expected.numpy()) - logits).max() < 1e-3


def with_noise(folder) -> None:
    """Moves norms and biases away from one and zero, so that a missing one changes the result."""
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in tensors.items():
        if tensor.ndim == 1:
            tensors[name] = tensor + 0.3 * torch.randn(tensor.shape)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def test_quantised_graphs_stand_beside_the_exact_one_with_what_they_lose(tmp_path, capsys):
    folder = tiny_model(tmp_path, head_dim=16)
    assert _command(["onnx", str(folder), "--precision", "fp32,int8"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [
        str(folder / "onnx" / name) for name in ("model.onnx", "model_int8.onnx")
    ]

    assert _command(["onnx", str(folder), "--precision", "int4"]) == 0

    assert not (folder / "onnx.writing").exists()
    graphs = json.loads((folder / "onnx" / "export.json").read_text())["graphs"]
    assert list(graphs) == ["model.onnx", "model_int8.onnx", "model_int4.onnx"]
    assert all((folder / "onnx" / name).exists() for name in graphs)
    exact, int8, int4 = graphs.values()
    digests = {"model.safetensors": digest(folder / "model.safetensors")}
    assert all(about["weights"] == digests for about in (exact, int8, int4))
    assert exact["agreement"] == 1.0
    assert exact["divergence"] < int8["divergence"] < int4["divergence"] < 0.5
    assert int8["agreement"] > 0.9


def test_one_precision_that_is_refused_does_not_take_the_others_with_it(tmp_path, capsys):
    wide = tiny_model(tmp_path, head_dim=16, initializer_range=0.5)  # 4 bits keep too little of such weights

    assert _command(["onnx", str(wide), "--precision", "int4,fp32,int8"]) == 0

    said = capsys.readouterr()
    files = ["model.onnx", "model_int8.onnx"]
    assert json.loads(said.out) == {"files": [str(wide / "onnx" / name) for name in files], "refused": ["int4"]}
    assert "With int4 weights the model in" in said.err and "take int8." in said.err
    assert {path.name for path in (wide / "onnx").iterdir()} == {*files, "export.json"}
    assert list(json.loads((wide / "onnx" / "export.json").read_text())["graphs"]) == files


def test_when_every_precision_is_refused_the_command_fails_and_what_was_there_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(decoder, "LIMIT", 0)
    wide = tiny_model(tmp_path, head_dim=16, initializer_range=0.5)
    export_onnx(wide, ["int8"], quietly)
    before = {path.name: path.read_bytes() for path in (wide / "onnx").iterdir()}
    with pytest.raises(Fault, match=r"another one: its distributions are .* nats from .* allowed; take int8\."):
        export_onnx(wide, ["int4"], quietly)
    assert {path.name: path.read_bytes() for path in (wide / "onnx").iterdir()} == before


def test_a_tied_head_and_the_embedding_are_one_table_of_a_quantised_graph(tmp_path):
    apart, tied = (
        tiny_model(tmp_path / str(tie), head_dim=16, vocab_size=4096, tie_word_embeddings=tie) for tie in (False, True)
    )
    for folder in (apart, tied):
        export_onnx(folder, ["int8"], quietly)
    table = 4096 * 32 * (1 + 4 / 32)
    large, small = ((folder / "onnx" / "model_int8.onnx").stat().st_size for folder in (apart, tied))
    assert large - small == pytest.approx(table, rel=0.01)


def test_large_weights_stand_beside_their_graph_and_are_read_from_files_in_parts(tmp_path, monkeypatch):
    folder = tiny_model(tmp_path / "model", head_dim=16)
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder, max_shard_size="100KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    monkeypatch.setattr(decoder, "LIMIT", 0)

    export_onnx(folder, ["fp32"], quietly)

    moved = folder.rename(tmp_path / "elsewhere") / "onnx"
    assert (moved / "model.onnx").stat().st_size < (moved / "model.onnx_data").stat().st_size
    Player(moved / "model.onnx", read_shape(moved.parent)).logits(np.arange(9))


def test_a_graph_that_is_not_its_model_is_never_put_in_place(tmp_path, monkeypatch):
    folder = tiny_model(tmp_path, head_dim=16)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_text("the one before")

    def wrong(model, shape, file, precision):
        other = tiny_model(tmp_path / "other", head_dim=16, seed=1)
        write_player(other, shape, file, precision)

    monkeypatch.setattr(export, "write_player", wrong)
    with pytest.raises(Fault, match=r"model\.onnx is not the model: it is off by up to"):
        export_onnx(folder, ["fp32"], quietly)
    with pytest.raises(Fault, match="With int8 weights the model in .* is another one"):
        export_onnx(folder, ["int8"], quietly)

    assert [path.name for path in (folder / "onnx").iterdir()] == ["model.onnx"]
    assert (folder / "onnx" / "model.onnx").read_text() == "the one before"
    assert not (folder / "onnx.writing").exists()


@pytest.mark.parametrize("bits", [4, 8])
def test_a_quantised_weight_is_within_a_step_of_what_it_was(bits):
    weight = torch.randn(6, 70, generator=torch.Generator().manual_seed(0))
    weight[0, :32] = 0

    numbers, scales = blocks(weight, bits)

    assert numbers.shape == (6, 3, 4 * bits)
    if bits == 4:
        numbers = np.stack([numbers & 15, numbers >> 4], axis=-1).reshape(6, 3, 32)
    restored = (numbers.astype(np.float32) - 2 ** (bits - 1)) * scales[..., None]
    assert np.abs(restored.reshape(6, 96)[:, :70] - weight.numpy()).max() <= np.abs(scales).max()
    assert (restored.reshape(6, 96)[0, :32] == 0).all()


@pytest.mark.parametrize(
    ("family", "settings", "reason"),
    [
        ("gemma2", {}, "is a gemma2, and only Llama, Mistral, Qwen 2, Qwen 3"),
        ("llama", {"hidden_act": "gelu", "head_dim": 16}, 'the activation "gelu"'),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, '"dynamic"'),
        ("llama", {"head_dim": 8}, "head size"),
    ],
)
def test_a_model_of_another_build_is_refused_in_a_sentence(family, settings, reason, tmp_path):
    folder = tiny_model(tmp_path, family, **settings)
    with pytest.raises(Fault, match=reason):
        export_onnx(folder, ["fp32"], quietly)
    assert not (folder / "onnx").exists()


def test_folders_that_hold_no_model_are_refused_in_a_sentence(tmp_path):
    folder = tiny_model(tmp_path / "model", head_dim=16)
    with pytest.raises(Fault, match='--precision takes fp32, int8, int4 with commas between, not "int3"'):
        _command(["onnx", str(folder), "--precision", "int3"])
    with pytest.raises(Fault, match="There is no such folder"):
        _command(["onnx", str(tmp_path / "nowhere")])
    weights = folder / "model.safetensors"
    shutil.copyfile(weights, tmp_path / "whole")
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(Fault, match=r"The weights in .* are damaged"):
        _command(["onnx", str(folder)])
    weights.unlink()
    with pytest.raises(Fault, match=r"has no model\.safetensors"):
        _command(["onnx", str(folder)])


@pytest.mark.parametrize("size", [100, 64 * 2**16, 64 * 2**16 + 1, 10**7])
def test_the_digest_of_weights_is_that_of_equal_files_and_sees_a_change(size, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    numbers = np.random.default_rng(size).bytes(size)
    one.write_bytes(numbers)
    other.write_bytes(numbers)
    assert digest(one) == digest(other)
    for changed in (bytes([numbers[0] ^ 1]) + numbers[1:], numbers[:-1] + bytes([numbers[-1] ^ 1]), numbers + b"0"):
        other.write_bytes(changed)
        assert digest(one) != digest(other)
