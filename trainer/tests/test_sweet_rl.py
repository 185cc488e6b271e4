"""One tiny run of SWEET-RL in this process: it goes through its stages, and what it exports plays."""

import json
import shutil
import signal

import onnxruntime
import pytest
import torch
from tiny_run import events, states, tiny_run
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.__main__ import _command
from tandem_trainer.export.onnx.compare import Player
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.export.onnx.shape import read_shape
from tandem_trainer.fault import Fault

STAGES = ("critic", "candidates", "ranking", "policy", "export")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    path = tiny_run(tmp_path_factory.mktemp("run"), family="qwen3", export={"onnx": ["fp32", "int8"]})
    assert _command([str(path)]) == 0
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return path


def test_it_goes_through_its_stages_and_each_has_its_figures(run):
    assert states(run) == [("preparing", "prepare"), *(("running", stage) for stage in STAGES), ("done", "export")]
    assert {"data", "plan", "step", "evaluation", "control", "ranking", "sample", "result"} <= {
        event["event"] for event in events(run)
    }
    assert {event["stage"] for event in events(run, "step")} == {"critic", "policy"}
    (result,) = events(run, "result")
    assert result["stages"]["policy"]["used_step"] <= result["stages"]["policy"]["steps"]


def test_the_model_differs_from_its_base_and_plays_the_same_in_transformers_and_onnx_runtime(run):
    base, model = (AutoModelForCausalLM.from_pretrained(run.parent / name) for name in ("base", "model"))
    asked = [{"role": "user", "content": "Write a function that works on the values of a list."}]
    prompt = AutoTokenizer.from_pretrained(run.parent / "model").apply_chat_template(
        asked, add_generation_prompt=True, return_tensors="pt"
    )["input_ids"]
    with torch.no_grad():
        assert (base(prompt).logits - model(prompt).logits).abs().max() > 1e-3
        said = model.generate(prompt, max_new_tokens=8, do_sample=False, eos_token_id=None)[0, prompt.shape[1] :]
    player = Player(run.parent / "model" / "onnx" / "model.onnx", read_shape(run.parent / "model"))
    assert player.go_on([prompt[0].numpy()], 8) == [said.tolist()]


def test_the_critic_scores_the_rows_of_the_run_by_its_weights_and_by_its_graph(run, tmp_path):
    out, critic = tmp_path / "scored.jsonl", run.parent / "critic"
    assert _command(["score", "--critic", str(critic), "--out", str(out), str(run.parent / "rows.jsonl")]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 24
    assert any(abs(turn["advantage"]) > 1e-4 for row in rows for turn in row["turns"])
    given = {"input_ids": [list(range(40, 60))], "positions": [4, 17, 9], "targets": [50, 60, 7]}
    of_critic, of_base = (
        onnxruntime.InferenceSession(critic / "onnx" / f"{name}.onnx").run(None, given)[0]
        for name in ("critic", "reference")
    )
    assert of_critic.shape == of_base.shape == (3,)
    assert abs(of_critic - of_base).max() > 1e-3


def test_its_graphs_stand_beside_its_weights_and_how_far_they_are_is_told(run):
    for folder, graphs in {"model": ("model", "model_int8"), "critic": ("critic", "reference")}.items():
        found = {path.name for path in (run.parent / folder / "onnx").iterdir()}
        assert found == {"export.json", *(f"{name}.onnx" for name in graphs)}
    told = [event["message"].split(":")[0] for event in events(run, "notice")]
    graphs = ["critic.onnx", "reference.onnx", "model.onnx", "model_int8.onnx"]
    assert [name for name in told if name.endswith(".onnx")] == graphs


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"base": "/nowhere"}, "is gone"),
        ({"fingerprint": "0" * 16}, "is not the one"),
        ({"score": "value-head"}, "value head"),
        ({"training": "qlora"}, "4 bits"),
    ],
)
def test_a_critic_without_its_base_or_of_another_kind_gets_no_graphs(run, tmp_path, change, reason):
    critic = shutil.copytree(run.parent / "critic", tmp_path / "critic")
    shutil.rmtree(critic / "onnx")
    about = json.loads((critic / "critic.json").read_text())
    (critic / "critic.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(Fault, match=reason):
        export_onnx(critic, [], print)
    assert not (critic / "onnx").exists()
