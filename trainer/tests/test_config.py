"""run.json is refused with one sentence that names the field, or it is read exactly as written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tandem_trainer.config import RunConfig
from tandem_trainer.fault import Fault
from tandem_trainer.run_json import read_config

REFUSALS = Path(__file__).parent / "refusals.json"


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


@pytest.mark.parametrize(("changes", "sentence"), json.loads(REFUSALS.read_text(encoding="utf-8")))
def test_what_the_schema_does_not_allow_is_refused_with_the_sentence_that_tandem_says(folder, changes, sentence):
    assert refusal(folder, **changes) == f"run.json: {sentence}"


def test_a_missing_field_and_missing_files_are_named(folder):
    assert refusal(folder, model={}) == "run.json: model.base is missing."
    assert refusal(folder, text='{"data": {}}') == "run.json: model is missing."
    assert f"there is no file at {folder / 'gone.jsonl'}" in refusal(folder, data={"trajectories": ["gone.jsonl"]})
    assert f"there is no folder at {folder / 'gone'}" in refusal(folder, resources={"shared": "gone"})
    assert f"there is no model folder at {folder / 'gone'}" in refusal(folder, model={"base": "./gone"})
    (folder / "empty").mkdir()
    assert "is not a Hugging Face model" in refusal(folder, model={"base": "empty"})
    with pytest.raises(Fault, match="There is no configuration at"):
        read_config(folder / "other.json")


def test_a_log_is_refused_with_the_command_that_writes_its_rows(folder):
    (folder / "log").mkdir()
    for name, value in {"log": ".", "filter": {}, "exclude_models": []}.items():
        assert f"data.{name} is not read here: `tandem train`" in refusal(folder, data={name: value})
    assert f"{folder} is a data folder: `tandem train`" in refusal(folder, data={"trajectories": ["."]})
    with pytest.raises(Fault, match="is a data folder: `tandem train`"):
        read_config(folder)


def test_a_revision_is_of_a_name_on_the_hub(folder):
    assert read_config(written(folder, model={"base": "owner/name", "revision": "v1"})).model.revision == "v1"
    assert "model.revision is for a name on the hub, but" in refusal(folder, model={"base": "base", "revision": "v1"})
    assert "model.revision is empty" in refusal(folder, model={"base": "owner/name", "revision": ""})


def test_a_cluster_has_the_address_of_a_dashboard_and_sees_the_folder_of_the_run(folder):
    def cluster(address="http://head:8265", **fields):
        return {"cluster": {"address": address, **fields}}

    read = read_config(written(folder, resources=cluster(storage=str(folder.parent)))).resources.cluster
    assert (read.address, read.workers, read.gpus_per_worker) == ("http://head:8265", 1, 0)
    for address in ("head:8265", "ray://head:10001", "http://:8265", "http://head:port"):
        assert f"resources.cluster.address: {address}" in refusal(folder, resources=cluster(address))
    assert "storage: shared is not an absolute path" in refusal(folder, resources=cluster(storage="shared"))
    assert "storage: there is no folder at /none" in refusal(folder, resources=cluster(storage="/none"))
    assert "is not in" in refusal(folder, resources=cluster(storage=str(folder / "base")))
    assert "processes" in refusal(folder, resources={**cluster(), "processes": 2})


def test_what_is_not_json_or_nested_too_deeply_is_refused_in_a_sentence(folder):
    assert "line 2 column 1 is not JSON" in refusal(folder, text='{"model":\n}')
    assert "is nested too deeply" in refusal(folder, text="[" * 100_000 + "]" * 100_000)
    assert "NaN is not a number" in refusal(folder, text='{"seed": NaN}')
    assert '"seed" stands twice' in refusal(folder, text='{"seed": 1, "seed": 2}')
    assert "the file must hold an object, not []" in refusal(folder, text="[]")
    deep = '{"model": {"base": "base", "template_options": {"a": ' + "[" * 500 + "]" * 500 + "}}}"
    assert "the file is not JSON: recursion limit exceeded" in refusal(folder, text=deep)


def test_a_run_needs_data_that_its_method_can_use(folder):
    (folder / "steps.jsonl").write_text("")
    assert "names nothing to train on" in refusal(folder, data={})
    assert "alone are not enough for sweet-rl" in refusal(folder, data={"preferences": ["steps.jsonl"]})
    both = {"trajectories": ["rows.jsonl"], "preferences": ["steps.jsonl"]}
    assert "not used by archer" in refusal(folder, method="archer", data=both)


def test_the_collaborator_is_trained_by_methods_that_learn_from_replies_or_edits(folder):
    assert read_config(written(folder, role="collaborator", method="rft")).role == "collaborator"
    assert 'set method to "rft" or "multiturn-dpo"' in refusal(folder, role="collaborator")
    assert "who answers each message once" in refusal(folder, role="collaborator", method="multiturn-dpo")


def test_a_role_is_trained_by_the_method_that_learns_from_pairs_alone(folder):
    (folder / "steps.jsonl").write_text("")
    pairs = {"role": "verifier", "data": {"preferences": ["steps.jsonl"]}}
    assert read_config(written(folder, method="multiturn-dpo", **pairs)).role == "verifier"
    assert 'set method to "multiturn-dpo"' in refusal(folder, method="rft", **pairs)
    assert "not outputs of its verifier" in refusal(folder, method="multiturn-dpo", role="verifier")


# Executes a command line after the other; prints the exit code and what was said of each, and whether torch came.
COMMANDS = """
import contextlib, io, json, sys
from tandem_trainer.__main__ import main
told = []
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            main()
        except SystemExit as ending:
            told.append([ending.code, said.getvalue(), errors.getvalue()])
print(json.dumps([told, sys.modules.get("torch") is not None]))
"""


def test_wrong_use_is_one_sentence_and_told_before_torch_is_imported(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "score").mkdir()
    expected = (
        ([], 2, "python -m tandem_trainer run.json"),
        (["--help"], 0, "python -m tandem_trainer run.json"),
        (["trian", "run.json"], 2, "There is no command trian"),
        (["gone.json"], 2, "gone.json"),
        (["."], 2, ". is a folder"),
        (["check", "run.json"], 2, "model is missing"),
        (["run.json"], 2, "model is missing"),
        (["score", "--critic", ".", "--out", "scored.jsonl", "rows.jsonl"], 2, "critic.json"),
    )
    command = [sys.executable, "-c", COMMANDS, json.dumps([arguments for arguments, *_ in expected])]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    told, torch_is_imported = json.loads(ran.stdout)
    assert not torch_is_imported
    for (code, said, errors), (arguments, wanted, word) in zip(told, expected, strict=True):
        assert code == wanted, arguments
        assert word in said or (word in errors and errors.count("\n") == 1), arguments
