"""run.json is refused with one sentence that names the field, or it is exactly what was written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tandem_trainer.config import RunConfig
from tandem_trainer.fault import Fault
from tandem_trainer.read_config import read_config


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}")
    (tmp_path / "rows.jsonl").write_text("")
    return tmp_path


def written(folder, text=None, **changes):
    config = {"model": {"base": "base"}, "data": {"trajectories": ["rows.jsonl"]}, **changes}
    path = folder / "run.json"
    path.write_text(json.dumps(config) if text is None else text)
    return path


def refusal(folder, text=None, **changes) -> str:
    path = written(folder, text, **changes)
    with pytest.raises(Fault) as caught:
        read_config(path)
    message = str(caught.value)
    assert caught.value.usage
    assert str(path) in message
    assert "\n" not in message
    return message.replace(str(path), "run.json")


def test_what_is_not_given_is_the_default_and_paths_are_relative_to_the_file(folder):
    config = read_config(written(folder, critic={"epochs": 2, "score": "value-head"}))
    assert config.model.base == str(folder / "base")
    assert config.data.trajectories == [str(folder / "rows.jsonl")]
    assert (config.critic.epochs, config.critic.score, config.critic.batch) == (2.0, "value-head", 8)
    assert isinstance(config.critic.epochs, float)
    assert config.policy == RunConfig(model=config.model, data=config.data).policy


def test_an_unknown_field_is_refused_with_the_nearest_name(folder):
    assert refusal(folder, critic={"learningrate": 1e-5}) == (
        'run.json: critic has no field "learningrate"; the nearest is "learning_rate".'
    )
    assert refusal(folder, modle={}) == 'run.json: the file has no field "modle"; the nearest is "model".'


def test_a_value_of_the_wrong_type_is_refused_with_what_it_must_be(folder):
    for change, sentence in [
        ({"critic": {"batch": "eight"}}, 'critic.batch must be a whole number of at least 1, not "eight".'),
        ({"critic": {"batch": True}}, "critic.batch must be a whole number of at least 1, not true."),
        ({"critic": {"batch": 2.0}}, "critic.batch must be a whole number of at least 1, not 2.0."),
        ({"critic": []}, "critic must hold an object, not []."),
        ({"method": "ppo"}, 'method must be "sweet-rl" or "rft" or "multiturn-dpo", not "ppo".'),
        ({"data": {"trajectories": "rows.jsonl"}}, 'data.trajectories must be a list, not "rows.jsonl".'),
        ({"data": {"trajectories": [7]}}, "data.trajectories[0] must be text, not 7."),
        ({"version": 2}, "version must be 1, not 2."),
        (
            {"resources": {"token_budget": "much"}},
            'resources.token_budget must be a whole number of at least 1 or "auto", not "much".',
        ),
    ]:
        assert refusal(folder, **change) == f"run.json: {sentence}"


def test_a_number_out_of_its_range_is_refused_with_the_range(folder):
    for change, sentence in [
        ({"critic": {"beta": 0}}, "critic.beta must be a number above 0, not 0."),
        (
            {"candidates": {"top_p": 1.5}},
            "candidates.top_p must be a number above 0 and at most 1, not 1.5.",
        ),
        (
            {"data": {"trajectories": ["rows.jsonl"], "held_out": 1}},
            "data.held_out must be a number of at least 0 and below 1, not 1.",
        ),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1."),
        (
            {"policy": {"learning_rate": -1.0}},
            "policy.learning_rate must be a number above 0 or null, not -1.0.",
        ),
    ]:
        assert refusal(folder, **change) == f"run.json: {sentence}"


def test_a_missing_field_and_missing_files_are_named(folder):
    assert refusal(folder, model={}) == "run.json: model.base is missing."
    assert refusal(folder, text='{"data": {}}') == "run.json: model is missing."
    assert f"there is no file at {folder / 'gone.jsonl'}" in refusal(folder, data={"trajectories": ["gone.jsonl"]})
    assert f"there is no folder at {folder / 'log'}" in refusal(folder, data={"log": "log"})
    assert f"there is no model folder at {folder / 'gone'}" in refusal(folder, model={"base": "./gone"})
    (folder / "empty").mkdir()
    assert "is not a Hugging Face model" in refusal(folder, model={"base": "empty"})
    with pytest.raises(Fault, match="There is no configuration at"):
        read_config(folder / "other.json")


def test_a_model_that_is_no_folder_is_a_name_on_the_hub(folder):
    assert read_config(written(folder, model={"base": "owner/name"})).model.base == "owner/name"


def test_a_revision_is_of_a_name_on_the_hub(folder):
    assert read_config(written(folder, model={"base": "owner/name", "revision": "v1"})).model.revision == "v1"
    assert "model.revision is for a name on the hub, but" in refusal(folder, model={"base": "base", "revision": "v1"})
    assert "model.revision is empty" in refusal(folder, model={"base": "owner/name", "revision": ""})


def test_what_is_not_json_is_refused_with_line_and_column(folder):
    assert "line 2 column 1 is not JSON" in refusal(folder, text='{"model":\n}')


def test_what_is_nested_too_deeply_is_refused_in_a_sentence(folder):
    assert "is nested too deeply" in refusal(folder, text="[" * 100_000 + "]" * 100_000)
    assert "NaN is not a number" in refusal(folder, text='{"seed": NaN}')
    assert '"seed" stands twice' in refusal(folder, text='{"seed": 1, "seed": 2}')
    assert "the file must hold an object, not []" in refusal(folder, text="[]")


def test_a_run_needs_data_that_its_method_can_use(folder):
    (folder / "steps.jsonl").write_text("")
    assert "names nothing to train on" in refusal(folder, data={})
    assert "alone are not enough for sweet-rl" in refusal(folder, data={"preferences": ["steps.jsonl"]})
    both = {"trajectories": ["rows.jsonl"], "preferences": ["steps.jsonl"]}
    assert "not used by rft" in refusal(folder, method="rft", data=both)


def run(*arguments, cwd):
    """The command line; the last line of stderr says whether torch was imported."""
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(sys.modules.get('torch') is not None, file=sys.stderr))\n"
        "from tandem_trainer.__main__ import main\n"
        "main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--help"], 0, "python -m tandem_trainer run.json"),
        ([], 2, "python -m tandem_trainer run.json"),
        (
            ["trian", "run.json"],
            2,
            "There is no command trian: give a run.json, or one of check, convert, doctor, onnx, plan, planner, score.",
        ),
        (["gone.json"], 2, "There is no configuration at gone.json."),
        (["."], 2, ". is a folder; give the run.json inside it."),
        (["check", "run.json"], 2, "run.json: model is missing."),
        (["run.json"], 2, "run.json: model is missing."),
        (
            ["score", "--critic", ".", "--out", "scored.jsonl", "rows.jsonl"],
            2,
            ". has no critic.json, so it is not an exported critic: give the folder `critic` of a SWEET-RL run.",
        ),
    ],
)
def test_wrong_use_is_one_sentence_and_told_before_torch_is_imported(tmp_path, arguments, code, said):
    (tmp_path / "run.json").write_text("{}")
    ran = run(*arguments, cwd=tmp_path)
    *errors, torch_is_imported = ran.stderr.splitlines()
    assert ran.returncode == code
    assert said in ran.stdout if not errors else errors == [said]
    assert torch_is_imported == "False"
    assert os.listdir(tmp_path) == ["run.json"]
