"""The result of a run contains graphs."""

import json
import shutil

import onnxruntime
import pytest
from tiny_run import events, tiny_run, train

from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.fault import Fault
from tandem_trainer.run.check import main as check


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tiny_run(tmp_path_factory.mktemp("run"), family="qwen3", export={"onnx": ["fp32", "int8"]})
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path


def test_a_run_leaves_the_graphs_of_its_model_and_of_its_critic_and_tells_how_far_they_are(run):
    folder = run.parent
    found = {path.relative_to(folder).as_posix() for path in folder.glob("*/onnx/*")}
    assert found == {
        "model/onnx/export.json",
        "model/onnx/model.onnx",
        "model/onnx/model_int8.onnx",
        "critic/onnx/export.json",
        "critic/onnx/critic.onnx",
        "critic/onnx/reference.onnx",
    }
    told = [event["message"].split(":")[0] for event in events(run, "notice")]
    assert [name for name in told if name.endswith(".onnx")] == [
        "critic.onnx",
        "reference.onnx",
        "model.onnx",
        "model_int8.onnx",
    ]


def test_the_graphs_of_a_critic_give_other_log_probabilities_than_those_of_its_base(run):
    given = {"input_ids": [list(range(40, 60))], "positions": [4, 17, 9], "targets": [50, 60, 7]}
    critic, reference = (
        onnxruntime.InferenceSession(run.parent / "critic" / "onnx" / f"{name}.onnx").run(None, given)[0]
        for name in ("critic", "reference")
    )
    assert critic.shape == reference.shape == (3,)
    assert abs(critic - reference).max() > 1e-3


def test_a_critic_without_the_base_that_it_was_trained_with_gets_no_graphs(run, tmp_path):
    critic = shutil.copytree(run.parent / "critic", tmp_path / "critic")
    shutil.rmtree(critic / "onnx")
    about = json.loads((critic / "critic.json").read_text())
    for change, reason in (
        ({"base": str(tmp_path / "nowhere")}, "is gone: give where it is now with --base"),
        ({"fingerprint": "0" * 16}, "is not the one that the critic"),
        ({"score": "value-head"}, "predicts rewards by a value head, which the trainer alone can score with"),
        ({"training": "qlora"}, "was trained against a base in 4 bits, which the trainer alone can score with"),
    ):
        (critic / "critic.json").write_text(json.dumps({**about, **change}))
        with pytest.raises(Fault, match=reason):
            export_onnx(critic, [], print)
    assert not (critic / "onnx").exists()


def test_a_model_that_cannot_be_written_is_refused_before_it_is_trained(tmp_path):
    path = tiny_run(tmp_path, family="gemma2", export={"onnx": ["fp32"]})
    with pytest.raises(Fault, match="is a gemma2, and only Llama"):
        check([str(path)])


@pytest.mark.parametrize(
    ("precisions", "files", "sentence"),
    [
        (["int4"], None, "There are no graphs for ONNX Runtime, and the model itself is whole: With int4"),
        (
            ["int4", "fp32"],
            {"model.onnx", "export.json"},
            "There is no int4 graph; the others and the model itself are whole: With int4",
        ),
    ],
    ids=["all", "one"],
)
def test_a_result_whose_graph_is_no_good_is_still_a_result_and_says_so(precisions, files, sentence, tmp_path):
    path = tiny_run(tmp_path, method="rft", family="qwen3", export={"onnx": precisions})
    ran = train(path, "from tandem_trainer.export.onnx import export\nexport.USELESS = 0")
    assert (ran.code, ran.stderr) == (0, "")
    model = tmp_path / "model"
    assert (model / "model.safetensors").exists()
    assert ({file.name for file in (model / "onnx").iterdir()} if (model / "onnx").exists() else None) == files
    assert events(path, "notice")[-1]["message"].startswith(sentence)
