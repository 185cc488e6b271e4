"""The plan's estimates agree with measurements, and its choices suit common cards."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from models import tiny_model
from tiny_run import trajectory_rows, write_lines
from torch.profiler import ProfilerActivity, profile
from transformers import AutoConfig

from tandem_trainer.__main__ import _command
from tandem_trainer.config import DataConfig, ModelConfig, PolicyConfig, ResourcesConfig, RunConfig
from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import histories
from tandem_trainer.model import memory
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import shape_of, step_flops
from tandem_trainer.model.folder import load_tokenizer
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.model.prefix_tree import forest_tokens
from tandem_trainer.run.machine_usage import Machine, WorkerMemory, cluster_machine, share_of
from tandem_trainer.run.plan import _bytes, make_plan, timed
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run.workload import Load, loads_of
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Turn

torch.set_num_threads(1)

QWEN_1_5B = AutoConfig.for_model(
    "qwen2", hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
    num_key_value_heads=2, vocab_size=151936, tie_word_embeddings=True,
)  # fmt: skip
LLAMA_8B = AutoConfig.for_model(
    "llama", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
    num_key_value_heads=8, vocab_size=128256,
)  # fmt: skip
LLAMA_70B = AutoConfig.for_model(
    "llama", hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64,
    num_key_value_heads=8, vocab_size=128256,
)  # fmt: skip


def worst_loads(config: RunConfig) -> list[Load]:
    """Makes loads without data: examples as large as the limits allow, and trajectories that share almost nothing."""
    limit, critic = config.policy.max_tokens, 2 * config.critic.max_tokens
    if config.method == "rft":
        return [Load("policy", largest=limit, scored=limit // 2)]
    policy = limit + config.candidates.max_new_tokens
    return [Load("critic", largest=critic, scored=critic // 2), Load("policy", largest=policy, scored=policy // 2)]


def plan_for(config, card: str, *, training: str = "lora", cards: int = 1, **settings):
    """Plans a run without data whose other settings are the defaults."""
    run = RunConfig(model=ModelConfig(base="base", training=training), data=DataConfig(), **settings)
    machine = cluster_machine(run.model, cards, WorkerMemory("a card", _bytes(card)))
    return make_plan(run, shape_of(config), machine, worst_loads(run))


def pair(prompt: int, response: int) -> list[Turn]:
    """Makes two turns with one history."""
    ids = np.random.default_rng(0).integers(0, 300, (3, max(prompt, response))).astype(np.int32)
    return [Turn(ids[0, :prompt], ids[1, :response]), Turn(ids[0, :prompt], ids[2, :response])]


def measured_peak(base, turns: list[Turn], logits_bytes: int, folder: Path) -> int:
    """Measures the peak bytes that a forward and backward pass allocates, by torch's profiler."""

    def step():
        torch.cat(token_log_probs(base.model, turns, logits_bytes=logits_bytes)).sum().backward()

    for _, weight in base.trainable():
        weight.grad = torch.zeros_like(weight)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        step()
    trace = folder / "trace.json"
    watched.export_chrome_trace(str(trace))
    events = [event["args"] for event in json.loads(trace.read_text())["traceEvents"] if event["name"] == "[memory]"]
    # Each event has the running total. Sums of the events' own sizes would depend on the order of their timestamps.
    before = min(event["Total Allocated"] - event["Bytes"] for event in events)
    return max(event["Total Allocated"] for event in events) - before


@pytest.mark.parametrize(
    ("family", "dtype", "training", "checkpointed"),
    [
        ("llama", "float32", "lora", False),
        ("llama", "bfloat16", "full", True),
        ("qwen2", "bfloat16", "lora", True),
        ("phi3", "float32", "full", False),
    ],
)
def test_a_step_takes_the_memory_that_was_estimated(tmp_path, family, dtype, training, checkpointed):
    sizes = {"hidden_size": 128, "intermediate_size": 448, "num_hidden_layers": 4}
    folder = tiny_model(tmp_path / "base", family, dtype=getattr(torch, dtype), **sizes)
    model = ModelConfig(base=str(folder), training=training, device="cpu", dtype=dtype)
    base = load_base(model, run_folder=tmp_path)
    base.checkpoint_activations(checkpointed)
    shape, turns, logits = shape_of(base.model.config), pair(400, 150), 1 << 18
    estimated = memory.activations(shape, model, dtype, forest_tokens(turns), checkpointed)
    estimated += memory.head(shape, model, dtype, 300, logits)
    assert estimated == pytest.approx(measured_peak(base, turns, logits, tmp_path), rel=0.2)


def test_what_a_run_holds_all_the_time_is_what_the_model_has(tmp_path):
    model = ModelConfig(base=str(tiny_model(tmp_path / "base")), device="cpu")
    base = load_base(model, run_folder=tmp_path)
    fixed = memory.fixed(shape_of(base.model.config), model, "float32")
    trained = sum(weight.numel() for _, weight in base.trainable())
    assert fixed["weights"] + fixed["adapters"] == 4 * sum(weight.numel() for weight in base.model.parameters())
    assert (fixed["gradients"], fixed["optimiser"]) == (4 * trained, 8 * trained)


@pytest.mark.parametrize(
    ("shape", "card", "training", "fits", "rooms", "advice"),
    [
        (QWEN_1_5B, "12GB", "lora", True, (16384 + 1024, 1 << 20), ""),  # a whole history and two continuations
        (QWEN_1_5B, "12GB", "full", False, (0, 1), "set model.training to lora"),
        (LLAMA_8B, "24GB", "lora", False, (8192, 16384), "qlora"),
        (LLAMA_8B, "24GB", "qlora", True, (8192, 1 << 20), ""),
        (LLAMA_8B, "12GB", "lora", False, (0, 1), ""),
        (LLAMA_8B, "12GB", "qlora", False, (4096, 8192), "lower max_tokens"),
    ],
)
def test_common_models_on_common_cards_fit_or_have_advice(shape, card, training, fits, rooms, advice):
    plan = plan_for(shape, card, training=training)
    assert plan.fits == fits
    assert rooms[0] <= plan.room < rooms[1]
    assert any(advice in each for each in plan.advice) or (fits and plan.advice == [])
    assert not fits or plan.needed <= plan.machine.usable


def test_cards_hold_together_what_none_of_them_holds_alone():
    def fitting(model, training: str) -> list[int]:
        return [n for n in (1, 2, 4, 8, 16) if plan_for(model, "80GB", training=training, cards=n).fits]

    assert fitting(LLAMA_8B, "full") == [4, 8, 16]
    assert fitting(LLAMA_70B, "lora") == [4, 8, 16]
    assert fitting(LLAMA_70B, "full") == []
    assert any("4 GPUs" in each for each in plan_for(LLAMA_8B, "80GB", training="full").advice)


def test_activations_are_kept_where_there_is_room_for_the_largest_example():
    short = PolicyConfig(max_tokens=2048)
    assert not plan_for(QWEN_1_5B, "24GB", method="rft", policy=short).checkpoint_activations
    assert plan_for(QWEN_1_5B, "12GB", method="rft").checkpoint_activations
    asked = ResourcesConfig(token_budget=3000, checkpoint_activations=True)
    plan = plan_for(QWEN_1_5B, "80GB", resources=asked)
    assert (plan.token_budget, plan.checkpoint_activations) == (3000, True)


def test_processes_on_one_processor_share_its_cores_and_on_cards_nothing():
    cores = os.cpu_count()
    assert share_of("cuda", 4, 1) == 1
    assert share_of("mps", 4, 1) == 1 / 4
    assert share_of("cpu", cores, 1) == 1
    assert share_of("cpu", 2 * cores, 1) == share_of("cpu", 2, cores) == 1 / 2


def test_too_little_disk_is_said():
    run = RunConfig(model=ModelConfig(base="base"), data=DataConfig())
    machine = Machine("cuda", "a card", "bfloat16", 40 << 30, host=64 << 30, disk=1 << 30)
    plan = make_plan(run, shape_of(QWEN_1_5B), machine, worst_loads(run))
    assert plan.fits and plan.advice[0].startswith("free 12.3 GiB")


@pytest.fixture
def run_json(tmp_path):
    base = tiny_model(tmp_path / "base")
    write_lines(tmp_path / "rows.jsonl", trajectory_rows(tasks=2, each=2))
    run = {
        "model": {"base": str(base), "device": "cpu"},
        "data": {"trajectories": ["rows.jsonl"]},
        "candidates": {"max_new_tokens": 32, "per_turn": 4, "trajectories": 1.0},
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    return path


def prepared_of(run_json):
    config = read_config(run_json)
    template = Template(load_tokenizer(config.model, Path(config.model.base), run_json.parent))
    return prepare(config, template), template


def test_the_critics_work_is_its_epochs_its_looks_and_one_pass_of_the_reference(run_json):
    prepared, template = prepared_of(run_json)
    shape = shape_of(AutoConfig.from_pretrained(prepared.config.model.base))
    load = loads_of(prepared, shape, template)[0]
    (train,), (held_out,) = prepared.split(prepared.critic)
    assert (load.stage, load.largest) == ("critic", max(forest_tokens(each.turns) for each in (train, held_out)))
    each = {work: step_flops(shape, train.turns, work) for work in ("lora", "forward")}
    steps, looks = 4, 2  # one example an epoch; before the first step and after the last
    # The reference reads both examples, and the control the one that is held out.
    assert load.flops == pytest.approx(steps * each["lora"] + (looks + 3) * each["forward"])


def test_the_policys_largest_example_is_a_history_with_two_candidates(run_json):
    prepared, template = prepared_of(run_json)
    loads = {load.stage: load for load in loads_of(prepared, shape_of(LLAMA_8B), template)}
    longest = max(len(history.prompt) for history in histories(prepared.dialogues, template))
    assert loads["policy"].largest == longest + 2 * 32
    assert loads["export"].copies == 2


def test_the_policys_steps_follow_from_candidates_that_were_written(run_json):
    prepared, template = prepared_of(run_json)
    shape = shape_of(LLAMA_8B)

    def steps_of(*responses):
        """Returns the policy's FLOPs when each history has these four candidates."""
        written = [[Turn(np.array([0], np.int32), np.array(response, np.int32)) for response in responses]]
        load = next(load for load in loads_of(prepared, shape, template, written) if load.stage == "policy")
        return load.pieces and load.pieces[0].flops

    different = steps_of([1], [2], [3], [4])
    assert steps_of([1], [1], [1], [2]) < different / 2  # one pair of the four
    assert steps_of([1], [1], [1], [1]) == ()


def test_the_command_counts_the_data_measures_a_step_and_knows_how_long(run_json, capsys):
    assert _command(["plan", str(run_json), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["fits"] and plan["machine"]["measured"] and not plan["checkpoint_activations"]
    assert list(plan["seconds"]) == ["critic", "candidates", "ranking", "policy", "export"]
    assert plan["total_seconds"] is not None
    assert (plan["data"]["trajectories"], plan["data"]["tasks"]) == (4, 2)
    assert plan["data"]["critic"] == {"train": 1, "held_out": 1}
    assert _command(["plan", str(run_json), "--memory", "12GB"]) == 0
    assert "12.0 GiB, bfloat16" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _: {}, "cannot be loaded"),
        (lambda c: {**c, "quantization_config": {"quant_method": "gptq"}}, "quantised"),
    ],
)
def test_a_base_that_cannot_be_trained_is_refused_before_anything_is_trained(run_json, change, reason):
    path = run_json.parent / "base" / "config.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(Fault, match=reason):
        _command(["plan", str(run_json)])


@pytest.mark.parametrize("training", ["lora", "full"])
def test_the_probe_changes_nothing(run_json, training):
    asked = json.loads(run_json.read_text())
    run_json.write_text(json.dumps({**asked, "model": {**asked["model"], "training": training}}))
    prepared, template = prepared_of(run_json)
    config = prepared.config
    base = load_base(config.model, run_folder=run_json.parent)
    shape = shape_of(base.model.config)
    plan = make_plan(config, shape, Machine("cpu", "cpu", "float32", 1 << 30), loads_of(prepared, shape, template))
    before = {name: weight.clone() for name, weight in base.model.named_parameters()}
    random = torch.get_rng_state()
    plan = timed(plan, config, shape, prepared, template, base)
    assert plan.machine.rate > 0
    assert all(seconds is not None for seconds in plan.seconds.values())
    assert torch.equal(random, torch.get_rng_state())
    assert all(torch.equal(before[name], weight) for name, weight in base.model.named_parameters())
    assert all(weight.grad is None for _, weight in base.trainable())
