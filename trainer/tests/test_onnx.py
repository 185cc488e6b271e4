"""Graphs of tiny models agree with PyTorch in ONNX Runtime."""

import json
import os

import numpy as np
import pytest
import torch
from models import LLAMA3, tiny_model, with_noise
from tiny_run import events, tiny_run, train
from transformers import AutoModelForCausalLM

from tandem_trainer.__main__ import _command
from tandem_trainer.export.onnx import decoder, export
from tandem_trainer.export.onnx.compare import LENGTH, Player
from tandem_trainer.export.onnx.decoder import write_player
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.export.onnx.shape import read_shape
from tandem_trainer.export.onnx.weights import digest
from tandem_trainer.fault import Fault
from tandem_trainer.run.check import main as check

torch.set_num_threads(1)

LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}


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
        ("qwen2", {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1}),
        ("mistral", {"sliding_window": 7}),
        ("llama", {"rope_parameters": {**LINEAR, "rope_theta": 100.0}}),
        ("llama", {"rope_parameters": {**YARN, "attention_factor": 1.5}}),
    ],
    ids=["epsilon", "llama3, tied", "biases", "qwen2", "qwen3", "a layer's window", "window", "linear", "yarn"],
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


def test_blocks_of_int8_are_as_large_as_the_divergence_of_this_model_allows(tmp_path, monkeypatch):
    folder = tiny_model(tmp_path, head_dim=16, hidden_size=64)

    def block() -> int:
        export_onnx(folder, ["int8"], quietly)
        return json.loads((folder / "onnx" / "export.json").read_text())["graphs"]["model_int8.onnx"]["block"]

    assert block() == 64
    monkeypatch.setattr(export, "NEAR", 0.0)
    assert block() == 32


def test_a_precision_that_is_refused_takes_neither_the_others_nor_what_was_there_with_it(tmp_path, capsys):
    wide = tiny_model(tmp_path, head_dim=16, initializer_range=0.5)  # 4 bits keep too little of such weights
    assert _command(["onnx", str(wide), "--precision", "int4,fp32,int8"]) == 0
    files = ["model.onnx", "model_int8.onnx"]
    made = {"files": [str(wide / "onnx" / name) for name in files], "refused": ["int4"]}
    assert json.loads(capsys.readouterr().out) == made
    assert list(json.loads((wide / "onnx" / "export.json").read_text())["graphs"]) == files
    before = {path.name: path.read_bytes() for path in (wide / "onnx").iterdir()}
    assert before.keys() == {*files, "export.json"}
    with pytest.raises(Fault, match="take int8"):
        export_onnx(wide, ["int4"], quietly)
    assert {path.name: path.read_bytes() for path in (wide / "onnx").iterdir()} == before


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

    def wrong(model, shape, file, precision, block):
        other = tiny_model(tmp_path / "other", head_dim=16, seed=1)
        write_player(other, shape, file, precision, block)

    monkeypatch.setattr(export, "write_player", wrong)
    with pytest.raises(Fault, match=r"model\.onnx is not the model: it is off by up to"):
        export_onnx(folder, ["fp32"], quietly)
    with pytest.raises(Fault, match="With int8 weights the model in .* is another one"):
        export_onnx(folder, ["int8"], quietly)
    assert [path.name for path in (folder / "onnx").iterdir()] == ["model.onnx"]
    assert (folder / "onnx" / "model.onnx").read_text() == "the one before"
    assert not (folder / "onnx.writing").exists()


@pytest.mark.parametrize(
    ("family", "settings", "reason"),
    [
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
    weights = folder / "model.safetensors"
    for change, arguments, reason in (
        (lambda: None, [folder, "--precision", "int3"], 'not "int3"'),
        (lambda: None, [tmp_path / "nowhere"], "no such folder"),
        (lambda: os.truncate(weights, 1000), [folder], "are damaged"),
        (lambda: weights.unlink(), [folder], r"has no model\.safetensors"),
    ):
        change()
        with pytest.raises(Fault, match=reason):
            _command(["onnx", *map(str, arguments)])


@pytest.mark.parametrize("size", [100, 64 * 2**16 + 1])
def test_the_digest_of_weights_sees_a_change_at_either_end(size, tmp_path):
    numbers = np.random.default_rng(size).bytes(size)

    def of(content: bytes) -> str:
        (tmp_path / "file").write_bytes(content)
        return digest(tmp_path / "file")

    assert of(numbers) == of(numbers)
    for changed in (bytes([numbers[0] ^ 1]) + numbers[1:], numbers[:-1] + bytes([numbers[-1] ^ 1]), numbers + b"0"):
        assert of(numbers) != of(changed)


def test_a_run_is_refused_whose_model_has_no_graph_and_one_whose_graph_is_no_good_has_a_result_and_says_so(tmp_path):
    with pytest.raises(Fault, match="is a gemma2"):
        check([str(tiny_run(tmp_path / "gemma", family="gemma2", export={"onnx": ["fp32"]}))])
    path = tiny_run(tmp_path / "run", method="rft", family="qwen3", export={"onnx": ["int4", "fp32"]})
    ran = train(path, "from tandem_trainer.export.onnx import export\nexport.USELESS = 0")
    assert (ran.code, ran.stderr) == (0, "")
    model = path.parent / "model"
    assert (model / "model.safetensors").exists()
    assert {file.name for file in (model / "onnx").iterdir()} == {"model.onnx", "export.json"}
    assert "There is no int4 graph" in events(path, "notice")[-1]["message"]
