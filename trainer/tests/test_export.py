"""Exported models load in plain transformers, equal the trained ones, and are whole or absent."""

import json
import resource
import signal

import numpy as np
import pytest
import torch
from models import FAMILIES, tiny_model
from safetensors.torch import load_file
from sets import overwrite
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.config import CriticConfig, DataConfig, ModelConfig, RunConfig
from tandem_trainer.data.prompt_file import critic_prompt
from tandem_trainer.export.card import card_of, revision
from tandem_trainer.export.folders import check_rows, distance, export_critic, export_model, logits
from tandem_trainer.fault import Fault
from tandem_trainer.model.base import load_base
from tandem_trainer.turn import Turn

torch.set_num_threads(1)


def turns() -> list[Turn]:
    ids = np.random.default_rng(0).integers(0, 300, (5, 60)).astype(np.int32)
    return [Turn(row[:40], row[40:]) for row in ids]


def trained_base(folder, training="lora", *, family="llama", change=0.05, files="float32", dtype="float32", **settings):
    """Loads a base and changes the weights of policy and critic, each in its own direction."""
    model = tiny_model(folder / "base", family, dtype=getattr(torch, files), **settings)
    base = load_base(ModelConfig(base=str(model), training=training, device="cpu", dtype=dtype), run_folder=folder)
    for seed, name in enumerate(("policy", "critic")):
        with base.adapter(name):
            generator = torch.Generator().manual_seed(seed)
            state = {
                key: weight + change * torch.randn(weight.shape, generator=generator).to(weight.dtype)
                for key, weight in base.state().items()
                if training == "full" or "lora_B" in key
            }
            overwrite(base.state(), state)
    return base


def plain_card(check) -> str:
    return check.sentence


def config_of(base, **settings) -> RunConfig:
    return RunConfig(model=base.config, data=DataConfig(), **settings)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_merged_model_of_every_family_gives_the_logits_of_the_live_adapter(tmp_path, family):
    base = trained_base(tmp_path, family=family)
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert check.difference < 1e-5
    assert check.learnt > 0.01
    exported = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    row = check_rows(turns())[0]
    torch.testing.assert_close(logits(exported, row), logits(base.model, row), atol=2e-4, rtol=1e-4)
    with base.reference():
        assert (logits(base.model, row) - logits(exported, row)).abs().max() > 0.1


def test_full_fine_tuning_is_exported_as_it_is(tmp_path):
    base = trained_base(tmp_path, "full")
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert check.difference == 0
    row = check_rows(turns())[0]
    assert torch.equal(logits(AutoModelForCausalLM.from_pretrained(tmp_path / "model"), row), logits(base.model, row))


def test_the_folder_is_a_plain_model_with_tokenizer_and_template(tmp_path):
    base = trained_base(tmp_path, files="bfloat16", change=0.5)
    base.tokenizer.chat_template = "{% for message in messages %}{{ message.content }}<|im_end|>{% endfor %}"
    (tmp_path / "base" / "generation_config.json").write_text('{"temperature": 0.5, "eos_token_id": [1, 2]}')
    export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {
        "README.md", "chat_template.jinja", "config.json", "generation_config.json", "model.safetensors",
        "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert len({path.stat().st_mode for path in (tmp_path / "model").iterdir()}) == 1  # who reads one reads all
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["dtype"] == config["torch_dtype"] == "bfloat16"
    assert not {"auto_map", "quantization_config", "_name_or_path"} & config.keys()
    settings = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert settings == {"temperature": 0.5, "eos_token_id": [1, 2]}
    messages = [{"role": "user", "content": "What of an empty list?"}]
    exported = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert exported.apply_chat_template(messages) == base.tokenizer.apply_chat_template(messages)
    assert {weight.dtype for weight in load_file(tmp_path / "model" / "model.safetensors").values()} == {torch.bfloat16}


def test_the_configuration_stays_the_one_that_runners_of_the_base_know(tmp_path):
    base = trained_base(tmp_path)
    path = tmp_path / "base" / "config.json"
    older = json.loads(path.read_text())
    older |= {"rope_theta": 10000.0, "rope_scaling": None, "torch_dtype": "float32", "_name_or_path": "/home/me/base"}
    del older["rope_parameters"], older["dtype"]
    path.write_text(json.dumps(older))
    export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    del older["_name_or_path"]
    assert config == {**older, "dtype": "float32"}


def test_the_check_computes_in_32_bits_and_the_live_weights_come_back_bit_for_bit(tmp_path):
    base = trained_base(tmp_path, files="bfloat16", dtype="bfloat16", change=0.5)
    before = {name: weight.clone() for name, weight in base.model.state_dict().items()}
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert (check.arithmetic, check.dtype, check.widened) == ("float32", "bfloat16", False)
    assert check.difference < 0.02 < check.learnt
    assert 0 < check.lost < 0.25
    after = base.model.state_dict()
    assert all(
        after[name].dtype == weight.dtype and torch.equal(after[name], weight) for name, weight in before.items()
    )


@pytest.mark.parametrize(("files", "apart"), [("float32", 1e-5), ("float16", 1e-2)])
def test_adapters_that_were_trained_on_rounded_weights_are_merged_into_these(tmp_path, files, apart):
    base = trained_base(tmp_path, files=files, dtype="bfloat16", change=0.5)
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert check.dtype == files
    assert check.difference < apart
    plain = load_file(tmp_path / "base" / "model.safetensors")["model.embed_tokens.weight"]
    exported = load_file(tmp_path / "model" / "model.safetensors")["model.embed_tokens.weight"]
    assert torch.equal(exported, plain.to(torch.bfloat16).to(plain.dtype))


def test_without_the_memory_for_that_the_check_allows_for_the_noise_of_16_bits(tmp_path, monkeypatch):
    base = trained_base(tmp_path, files="bfloat16", dtype="bfloat16", change=0.5)
    monkeypatch.setattr("tandem_trainer.export.folders.room", lambda _: 1000)
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert (check.arithmetic, check.tolerance) == ("bfloat16", 0.2)
    assert check.difference < check.tolerance


def test_a_change_that_16_bits_would_lose_is_written_as_32(tmp_path):
    base = trained_base(tmp_path, files="bfloat16", change=2e-4)
    check = export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert check.widened
    assert check.dtype == "float32"
    assert "would have lost what was learnt" in check.sentence
    assert json.loads((tmp_path / "model" / "config.json").read_text())["dtype"] == "float32"
    exported = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    row = check_rows(turns())[0]
    with base.reference():
        before = logits(base.model, row)
    live = logits(base.model, row)
    assert distance([logits(exported, row)], [live]) < 0.01 * distance([before], [live])


def test_without_the_memory_for_32_bits_a_loss_is_refused_and_not_exported(tmp_path, monkeypatch):
    base = trained_base(tmp_path, files="bfloat16", change=2e-4)
    monkeypatch.setattr("tandem_trainer.export.folders.available_memory", lambda: 1000)
    with pytest.raises(Fault, match=r"Rounding to bfloat16 would take \d+% of what was learnt"):
        export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert not list(tmp_path.glob("model*"))


def test_a_result_equal_to_its_base_is_refused(tmp_path):
    base = trained_base(tmp_path, change=0.0)
    with pytest.raises(Fault, match="Training changed nothing"):
        export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert not list(tmp_path.glob("model*"))


def test_an_exported_model_that_is_not_the_live_one_is_refused(tmp_path, monkeypatch):
    base = trained_base(tmp_path)
    monkeypatch.setattr("tandem_trainer.export.folders.merge", lambda *_: (1.0, 0.0, False))
    with pytest.raises(Fault, match="not the trained one"):
        export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    assert not list(tmp_path.glob("model*"))


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    base = trained_base(tmp_path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limit[1]))
    try:
        with pytest.raises(Fault, match=r"The policy cannot be written to .*model: File too large") as raised:
            export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert not raised.value.usage
    assert not list(tmp_path.glob("model*"))


def test_a_critic_has_beside_it_what_scoring_needs(tmp_path):
    base = trained_base(tmp_path)
    export_model(base, "policy", tmp_path / "model", turns(), plain_card)
    config = config_of(base, convention="reference-code", critic=CriticConfig(score="value-head", beta=0.2))
    head = {"value_head.weight": torch.ones(32), "value_head.bias": torch.tensor(2.0)}
    export_critic(base, tmp_path / "critic", turns(), plain_card, config, critic_prompt(), head)
    about = json.loads((tmp_path / "critic" / "critic.json").read_text())
    assert about["version"] == 1
    assert about["base"] == str(tmp_path / "base")
    assert (about["score"], about["convention"], about["beta"]) == ("value-head", "reference-code", 0.2)
    assert "{{hiddenInformation}}" in about["prompt"].replace(" ", "")
    saved = load_file(tmp_path / "critic" / about["value_head"])
    assert torch.equal(saved["value_head.weight"], head["value_head.weight"])
    assert saved["value_head.bias"] == 2
    policy, critic = (load_file(tmp_path / name / "model.safetensors") for name in ("model", "critic"))
    name = "model.layers.0.mlp.up_proj.weight"
    assert policy.keys() == critic.keys() and not torch.equal(policy[name], critic[name])
    assert base.live == "policy"


def test_the_card_tells_data_settings_figures_and_the_check(tmp_path):
    base = trained_base(tmp_path)
    config = config_of(base, name="Trial", seed=7)
    figures = {
        "critic": {"steps": 40, "held_out_margin": 0.1234},
        "ranking": {"rank_correlation": 0.25, "untrained_spread": 0.5},
        "policy": {"steps": 12},
    }
    counts = {"trajectories": 1234, "left_out": {"leaked": 3}}
    (tmp_path / "base" / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A base\n")
    card = card_of("policy", config, base, counts, figures)
    check = export_model(base, "policy", tmp_path / "model", turns(), card)
    text = (tmp_path / "model" / "README.md").read_text()
    assert text.startswith("---\nlibrary_name: transformers\npipeline_tag: text-generation\nlicense: apache-2.0\n")
    for part in (
        check.sentence, "| trajectories | 1,234 |", "| left out: leaked | 3 |", "| held out margin | 0.1234 |",
        "| rank correlation | 0.25 |", "Seed 7", revision(), '"lora_rank": 16', "vllm serve", "`apache-2.0`",
    ):  # fmt: skip
        assert part in text
    assert str(tmp_path) not in text
    replies = card_of("policy", config_of(base, role="collaborator", method="rft"), base, counts, figures)(check)
    assert "It plays the collaborator" in replies
    outputs = card_of("policy", config_of(base, role="verifier", method="multiturn-dpo"), base, counts, figures)(check)
    assert "It plays the verifier" in outputs


@pytest.mark.parametrize("license", ['"mit\\ntags: [owned]"', "|\n  mit\n  ---\n  # Owned", "mit\u2028tags: [owned]"])
def test_nothing_foreign_breaks_out_of_its_line_of_the_card(tmp_path, license):
    base = trained_base(tmp_path)
    (tmp_path / "base" / "README.md").write_text(f"---\nlicense: {license}\n---\n# A base\n", encoding="utf-8")
    config = config_of(base, name="a run\n---\n# Owned\x1b[31m")
    export_model(base, "policy", tmp_path / "model", turns(), card_of("policy", config, base, {}, {}))
    lines = (tmp_path / "model" / "README.md").read_text(encoding="utf-8").splitlines()
    assert "license: unknown" in lines
    assert lines.count("---") == 2
    assert not [line for line in lines if line.strip().startswith(("# Owned", "tags: [owned"))]
    assert r"# a run\n---\n# Owned\x1b[31m: policy trained with Tandem" in lines
