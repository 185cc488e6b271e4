"""A base on the hub is downloaded from a local server that answers as the hub does, or refused with the reason."""

import os
import shutil
from pathlib import Path

import pytest
from hub import Hub, heed
from models import tiny_model
from transformers import AutoModelForCausalLM

from tandem_trainer.config import ModelConfig
from tandem_trainer.fault import Fault
from tandem_trainer.model.folder import find_model, quiet

quiet()


def found(name: str, revision: str | None = None, *, weights: bool = True) -> str:
    """Returns the folder, or the reason why there is none."""
    try:
        return str(find_model(ModelConfig(base=name, revision=revision), Path(), weights=weights))
    except Fault as fault:
        return str(fault)


@pytest.fixture
def hub(tmp_path):
    before = {name: os.environ.get(name) for name in ("HF_ENDPOINT", "HF_HOME", "HF_HUB_OFFLINE")}
    with Hub() as served:
        heed(served.environment(tmp_path / "home"))
        yield served
    for name in before:
        os.environ.pop(name)
    heed({name: value for name, value in before.items() if value is not None})


@pytest.fixture
def offline(hub, tmp_path):
    """Returns a function that takes the hub offline."""
    return lambda: heed(hub.environment(tmp_path / "home", offline=True))


@pytest.fixture
def model(tmp_path):
    """Writes a model with many files that no run reads."""
    folder = tiny_model(tmp_path / "model")
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    for other in ("pytorch_model.bin", "consolidated.safetensors", "model.gguf", "original/consolidated.00.pth"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_bytes(b"another copy of the weights")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_text("{}")
    return folder


def files_of(folder: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}


def test_a_plan_gets_no_weights_and_a_run_gets_one_copy_of_them(hub, model):
    commit = hub.push("tiny/model", model)
    without = found("tiny/model", weights=False)
    assert Path(without).name == commit
    about = {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}
    assert files_of(without) == about | {"README.md"}
    assert found("tiny/model") == without
    assert files_of(without) == about | {"README.md", "model.safetensors"}
    assert sorted(hub.files) == sorted(files_of(without))


def test_weights_of_pytorch_come_where_there_are_no_others(hub, model):
    (model / "model.safetensors").unlink()
    hub.push("tiny/model", model)
    files = files_of(found("tiny/model"))
    assert "pytorch_model.bin" in files
    assert "consolidated.safetensors" not in files


def test_a_revision_is_a_commit_a_tag_or_a_branch_and_none_is_the_newest(hub, model):
    first = hub.push("tiny/model", model, "v1")
    (model / "README.md").write_text("The second.")
    second = hub.push("tiny/model", model)
    folders = [found("tiny/model", revision, weights=False) for revision in (None, "main", "v1", first, second)]
    assert [Path(folder).name for folder in folders] == [second, second, first, first, second]


def test_without_a_network_the_cache_is_used_as_far_as_it_goes(hub, model, offline, tmp_path):
    commit = hub.push("tiny/model", model, "v1")
    about = found("tiny/model", "v1", weights=False)
    offline()
    assert [found("tiny/model", name, weights=False) for name in ("v1", commit)] == [about, about]
    assert "cannot be reached, and it was not downloaded before at the revision v1" in found("tiny/model", "v1")
    heed(hub.environment(tmp_path / "home"))
    assert found("tiny/model", "v1") == about
    offline()
    # Other programs leave out optional files.
    (Path(about) / "README.md").unlink()
    assert [found("tiny/model", name) for name in ("v1", commit)] == [about, about]
    (Path(about) / "model.safetensors").unlink()
    assert "cannot be reached" in found("tiny/model", commit)


def test_a_download_of_which_a_part_is_missing_is_not_used(hub, offline, tmp_path):
    folder = tiny_model(tmp_path / "model")
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder, max_shard_size="100KB")
    (folder / "model.safetensors").unlink()
    hub.push("tiny/model", folder)
    lost = next(Path(found("tiny/model")).glob("model-00002*"))
    lost.unlink()
    offline()
    assert "cannot be reached" in found("tiny/model")
    # An older client keeps no list of the files.
    shutil.copytree(tmp_path / "home", tmp_path / "older", symlinks=True, ignore=shutil.ignore_patterns("trees"))
    heed(hub.environment(tmp_path / "older", offline=True))
    assert f"What was downloaded of tiny/model has no {lost.name}" in found("tiny/model")


def test_what_the_hub_refuses_is_told_as_the_field_that_is_wrong(hub, model):
    hub.push("tiny/model", model)
    hub.push("gated/model", model)
    for weights in (False, True):
        unknown = found("nobody/nothing", weights=weights)
        assert unknown.startswith("model.base is nobody/nothing, but the hub has no such model")
        gated = found("gated/model", weights=weights)
        assert gated.startswith("model.base is gated/model, which the hub gives to those alone who agree to its terms")
        for revision in ("v9", "0" * 40):
            told = f"model.revision is {revision}, but the hub has no such commit, tag or branch of tiny/model"
            assert found("tiny/model", revision, weights=weights).startswith(told)


def test_a_hub_that_cannot_be_reached_is_no_fault_of_the_name(offline):
    offline()
    assert found("some/model").startswith("The model some/model is on the hub, which cannot be reached")


def test_what_is_no_model_is_told(hub, model):
    (model / "config.json").unlink()
    hub.push("tiny/model", model)
    assert found("tiny/model").startswith("What was downloaded of tiny/model has no config.json")


def test_a_repository_of_gguf_files_says_so(hub, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "model-q8_0.gguf").write_bytes(b"GGUF")
    (folder / "README.md").write_text("A model for llama.cpp.")
    hub.push("tiny/model-GGUF", folder)
    told = "tiny/model-GGUF on the hub holds GGUF files, the format of llama.cpp, and no model that transformers reads"
    assert found("tiny/model-GGUF").startswith(told)
