"""A base on the hub is downloaded from a local server that answers as the hub does, or refused with the reason."""

import os
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
    next(Path(found("tiny/model")).glob("model-00002*")).unlink()
    offline()
    assert "cannot be reached" in found("tiny/model")


@pytest.mark.parametrize(
    ("name", "revision", "told"),
    [
        ("nobody/nothing", None, "model.base is nobody/nothing"),
        ("gated/model", None, "model.base is gated/model, which the hub gives to those alone"),
        ("tiny/model", "v9", "model.revision is v9"),
        ("tiny/model", "0" * 40, "model.revision is 0000"),
        ("tiny/bare", None, "What was downloaded of tiny/bare has no config.json"),
        ("tiny/model-GGUF", None, "tiny/model-GGUF on the hub holds GGUF files"),
    ],
)
def test_what_the_hub_refuses_or_lacks_is_told_as_the_field_that_is_wrong(hub, model, tmp_path, name, revision, told):
    if name == "tiny/bare":
        (model / "config.json").unlink()
    if name.endswith("GGUF"):
        model = tmp_path / "files"
        model.mkdir()
        (model / "model-q8_0.gguf").write_bytes(b"GGUF")
        (model / "README.md").write_text("A model for llama.cpp.")
    if name != "nobody/nothing":
        hub.push(name, model)
    assert found(name, revision).startswith(told)
    if name.startswith("gated") or revision:
        assert found(name, revision, weights=False).startswith(told)
