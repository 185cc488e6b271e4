"""A model folder is checked once: plan, training, export, conversion and play find the same in it, or refuse it."""

import json
import os
from pathlib import Path

import pytest
from models import tiny_model, tiny_tokenizer
from safetensors.torch import load_file
from tiny_run import tiny_run
from transformers import AutoTokenizer

from tandem_trainer.config import ModelConfig
from tandem_trainer.data.json_rows import json_lines
from tandem_trainer.data.template import Template
from tandem_trainer.export.gguf.convert import to_file
from tandem_trainer.export.onnx.export import export_onnx
from tandem_trainer.fault import Fault
from tandem_trainer.model.flops import read_shape
from tandem_trainer.model.folder import load_template
from tandem_trainer.run.check import main as check

BAD = json.loads((Path(__file__).parent / "bad_folders.json").read_text(encoding="utf-8"))
SPECIAL = json.loads((Path(__file__).parent / "special_tokens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SPECIAL["cases"], ids=lambda case: case["name"])
def test_special_tokens_are_found_where_play_finds_them(case, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(SPECIAL["tokenizers"][case["tokenizer"]]))
    for name, content in case["files"].items():
        (tmp_path / name).write_text(json.dumps(content))
    assert AutoTokenizer.from_pretrained(tmp_path).special_tokens_map == case["tokens"]


def change(folder: Path, files: dict) -> None:
    """Merges objects into the folder's files, writes texts, and deletes what is null."""
    for name, content in files.items():
        if content is None:
            (folder / name).unlink()
        elif isinstance(content, str):
            (folder / name).write_text(content)
        else:
            merged = {**json.loads((folder / name).read_text()), **content}
            (folder / name).write_text(json.dumps({key: value for key, value in merged.items() if value is not None}))


def template_of(folder: Path) -> Template:
    return load_template(ModelConfig(base=str(folder)), folder, folder)


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["name"])
def test_a_bad_folder_gets_one_sentence_wherever_it_is_used(case, tmp_path):
    folder = tiny_model(tmp_path / "model", head_dim=16)
    change(folder, case["files"])
    for use in (
        template_of,
        lambda folder: export_onnx(folder, ["fp32"], print),
        lambda folder: to_file(folder, tmp_path / "tiny.gguf", None),
    ):
        with pytest.raises(Fault, match=case["trainer"]) as fault:
            use(folder)
        assert fault.value.usage
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_check_refuses_a_run_whose_model_has_too_few_rows(tmp_path):
    run = tiny_run(tmp_path / "run")
    folder = run.parent / json.loads(run.read_text())["model"]["base"]
    change(folder, {"config.json": {"vocab_size": 200}})
    with pytest.raises(Fault, match="has 320 tokens, its model 200 rows for them"):
        check([str(run)])


def with_token(folder: Path, template: str) -> Path:
    tokenizer = AutoTokenizer.from_pretrained(tiny_model(folder))
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|picture|>"]})
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


def test_an_added_token_without_a_row_is_refused_where_it_is_read_and_only_there(tmp_path):
    plain = template_of(with_token(tmp_path / "plain", tiny_tokenizer().chat_template))
    assert plain.rows == 320
    plain.encoder.encode(["a picture"])
    with pytest.raises(Fault, match=r"has the token <\|picture\|> \(320\), and its model 320 rows"):
        plain.encoder.encode(["a <|picture|>"])
    ending = "{% for message in messages %}{{ message.content }}<|picture|>{% endfor %}"
    with pytest.raises(Fault, match=r"has the token <\|picture\|> \(320\), and its model 320 rows"):
        template_of(with_token(tmp_path / "ending", ending))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "chat_template.jinja", "model.safetensors"])
@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_a_file_of_a_model_that_is_none_is_refused_before_it_is_opened(kind, name, tmp_path):
    folder = tiny_model(tmp_path / "model", head_dim=16)
    (folder / name).unlink()
    if kind == "a pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    for use in (template_of, read_shape, lambda folder: export_onnx(folder, ["fp32"], print)):
        with pytest.raises(Fault, match=rf"{name} is {kind} and no regular file"):
            use(folder)


def test_a_file_of_a_model_that_is_endless_is_refused_before_it_is_read(tmp_path):
    folder = tiny_model(tmp_path / "model")
    os.truncate(folder / "tokenizer.json", 1 << 40)
    with pytest.raises(Fault, match=r"tokenizer\.json has 1,099,511,627,776 bytes"):
        template_of(folder)


@pytest.mark.parametrize(
    "name", ["run.json", "events.jsonl", "lock", "plan.json", "checkpoints/1-policy-2/checkpoint.json"]
)
def test_a_file_of_a_run_that_is_a_pipe_is_refused_before_it_is_opened(name, tmp_path):
    run = tiny_run(tmp_path / "run")
    path = run.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(Fault, match=rf"{path.name} is a pipe and no regular file"):
        check([str(run)])


def test_rows_that_are_a_device_are_refused_before_they_are_opened():
    with pytest.raises(Fault, match="/dev/zero is a device and no regular file"):
        list(json_lines(Path("/dev/zero"), []))


def test_an_index_of_weights_names_files_of_its_own_folder_only(tmp_path):
    folder = tiny_model(tmp_path / "model", head_dim=16)
    (folder / "model.safetensors").rename(tmp_path / "elsewhere.safetensors")
    names = load_file(tmp_path / "elsewhere.safetensors")
    index = {"weight_map": dict.fromkeys(names, "../elsewhere.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(Fault, match="names files of other folders"):
        export_onnx(folder, ["fp32"], print)
