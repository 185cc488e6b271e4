import json
import os

import numpy as np
import pytest
import torch
from models import tiny_model
from sets import overwrite
from transformers import AutoModelForCausalLM

from tandem_trainer.config import ModelConfig
from tandem_trainer.fault import Fault
from tandem_trainer.model.base import load_base
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.turn import Turn

torch.set_num_threads(1)


@pytest.fixture
def folder(tmp_path):
    return tiny_model(tmp_path / "model")


@pytest.fixture(params=["lora", "full"])
def base(request, folder, tmp_path):
    return load_base(config(folder, training=request.param), run_folder=tmp_path)


def config(folder, **settings) -> ModelConfig:
    return ModelConfig(base=str(folder), device="cpu", lora_rank=4, **settings)


def some_turns() -> list[Turn]:
    generator = np.random.default_rng(0)
    prompt, *responses = (generator.integers(3, 300, size).astype(np.int32) for size in (15, 4, 7))
    return [Turn(prompt, response) for response in responses]


def scores(model) -> torch.Tensor:
    with torch.no_grad():
        return torch.cat(token_log_probs(model, some_turns()))


def train(base, steps: int = 1) -> None:
    optimiser = torch.optim.SGD([weight for _, weight in base.trainable()], lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        (-torch.cat(token_log_probs(base.model, some_turns())).sum()).backward()
        optimiser.step()


def test_at_first_critic_and_policy_are_the_base(base, folder):
    plain = scores(AutoModelForCausalLM.from_pretrained(folder))
    for name in ("critic", "policy"):
        with base.adapter(name):
            assert torch.equal(scores(base.model), plain)


def test_the_reference_is_the_plain_base_bit_for_bit_after_training(base, folder):
    plain = scores(AutoModelForCausalLM.from_pretrained(folder))
    train(base, 2)
    trained = scores(base.model)
    assert not torch.equal(trained, plain)
    with base.reference():
        assert torch.equal(scores(base.model), plain)
        with base.reference():
            assert torch.equal(scores(base.model), plain)
    assert torch.equal(scores(base.model), trained)


def test_critic_and_policy_are_trained_apart(base, folder):
    plain = scores(AutoModelForCausalLM.from_pretrained(folder))
    with base.adapter("critic"):
        train(base, 2)
        critic = scores(base.model)
    assert torch.equal(scores(base.model), plain)
    train(base, 1)
    policy = scores(base.model)
    base.adapter("critic")
    assert torch.equal(scores(base.model), critic)
    with base.reference():
        assert torch.equal(scores(base.model), plain)
    base.adapter("policy")
    assert torch.equal(scores(base.model), policy)


def test_every_linear_layer_but_the_output_gets_an_adapter_and_only_the_live_one_is_trainable(folder, tmp_path):
    base = load_base(config(folder, dtype="bfloat16"), run_folder=tmp_path)
    assert {weight.dtype for weight in base.model.parameters()} == {torch.bfloat16}
    base.adapter("critic")
    names = [name for name, _ in base.trainable()]
    assert all(".critic." in name for name in names)
    with base.reference():
        scores(base.model)
    assert [name for name, _ in base.trainable()] == names
    layers = {name.split(".lora_")[0].rsplit(".", 1)[-1] for name in names}
    assert layers == {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}


def test_the_state_of_one_process_goes_on_in_another(folder, tmp_path):
    for training in ("lora", "full"):
        first = load_base(config(folder, training=training), run_folder=tmp_path)
        train(first)
        state = {name: tensor.clone() for name, tensor in first.state().items()}
        second = load_base(config(folder, training=training), run_folder=tmp_path, seed=1)
        overwrite(second.state(), state)
        assert torch.equal(scores(second.model), scores(first.model))


def test_the_seed_decides_the_adapters(folder, tmp_path):
    states = [load_base(config(folder), run_folder=tmp_path, seed=seed).state() for seed in (0, 0, 1)]
    names = [name for name in states[0] if "lora_A" in name]
    assert all(torch.equal(states[0][name], states[1][name]) for name in names)
    assert not any(torch.equal(states[0][name], states[2][name]) for name in names)


def test_recomputed_activations_give_the_same_gradients(base):
    def gradients():
        base.model.zero_grad()
        torch.cat(token_log_probs(base.model, some_turns())).sum().backward()
        return [weight.grad for _, weight in base.trainable()]

    train(base)
    kept = gradients()
    base.checkpoint_activations(True)
    for one, other in zip(gradients(), kept, strict=True):
        torch.testing.assert_close(one, other)
    base.checkpoint_activations(False)
    assert all(torch.equal(one, other) for one, other in zip(gradients(), kept, strict=True))


def test_a_model_with_other_layers_than_attention_gets_separate_rows(tmp_path):
    folder = tiny_model(tmp_path / "qwen3next", "qwen3_next")
    base = load_base(config(folder), run_folder=tmp_path)
    assert not base.shares_prefixes
    assert "linear_attention" in base.notice
    turn = some_turns()[0]
    row = torch.from_numpy(np.concatenate([turn.prompt, turn.response])).long()
    with torch.no_grad():
        logits = base.model(row[None], use_cache=False).logits[0, len(turn.prompt) - 1 : -1]
    own = logits.log_softmax(-1).gather(1, row[len(turn.prompt) :, None])[:, 0]
    torch.testing.assert_close(scores(base.model)[: len(own)], own, atol=1e-4, rtol=1e-4)


def test_stop_ids_are_those_of_the_model_and_of_the_tokenizer(folder, tmp_path):
    path = folder / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"eos_token_id": [0, 2]}))
    assert load_base(config(folder), run_folder=tmp_path).stop_ids == {0, 2}


def test_a_file_replaces_the_chat_template(folder, tmp_path):
    (tmp_path / "own.jinja").write_text("{{ messages[0].content }}")
    base = load_base(config(folder, chat_template="own.jinja"), run_folder=tmp_path)
    assert base.tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False) == "Hi"


def test_weights_of_full_fine_tuning_leave_the_run_folder_with_the_base(folder, tmp_path):
    base = load_base(config(folder, training="full"), run_folder=tmp_path)
    train(base)
    base.adapter("critic")
    assert list(tmp_path.glob("weights-*/policy.safetensors"))
    del base
    assert not list(tmp_path.glob("weights-*"))


def change(path, **fields) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("spoil", "settings", "word"),
    [
        (lambda folder: folder.rename(folder.parent / "gone"), {}, "no such folder"),
        (lambda folder: (folder / "config.json").unlink(), {}, "config.json"),
        (lambda folder: change(folder / "config.json", model_type="unheard-of"), {}, "unheard-of"),
        (lambda folder: change(folder / "config.json", num_hidden_layers=3), {}, "9 tensors"),
        (lambda folder: change(folder / "config.json", intermediate_size=48), {}, "another shape"),
        (lambda folder: (folder / "model.safetensors").unlink(), {}, "no weights"),
        (lambda folder: os.truncate(folder / "model.safetensors", 1000), {}, "damaged"),
        (lambda folder: [file.unlink() for file in folder.glob("tokenizer*.json")], {}, "no tokenizer"),
        (lambda folder: (folder / "chat_template.jinja").unlink(), {}, "no chat template"),
        (lambda folder: None, {"chat_template": "none.jinja"}, "none.jinja"),
        (lambda folder: None, {"training": "qlora"}, "NVIDIA"),
        (lambda folder: None, {"device": "mps"}, "finds no such device"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_refused_with_its_reason(folder, tmp_path, spoil, settings, word):
    spoil(folder)
    with pytest.raises(Fault, match=word) as caught:
        load_base(ModelConfig(**{"base": str(folder), "device": "cpu", **settings}), run_folder=tmp_path)
    assert caught.value.usage
    assert "\n" not in str(caught.value)
