"""The training loop: its steps, its memory and its end; a stop in between changes nothing."""

import math
from dataclasses import replace

import pytest
import torch
from models import tiny_model
from sets import cache, overwrite, secret_pairs, tiny_base
from torch.nn import Parameter

from tandem_trainer.config import CriticConfig, DataConfig, ModelConfig, PolicyConfig, ResourcesConfig, RunConfig
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import Critic
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import shape_of
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.run import objective as objective_module
from tandem_trainer.run.adam import BETAS, Adam
from tandem_trainer.run.budget import TokenBudget, is_out_of_memory
from tandem_trainer.run.distributed import Ranks
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.machine_usage import Meter
from tandem_trainer.run.optimise import learning_rate, optimise, peak_learning_rate, stage_steps
from tandem_trainer.run.run import Run
from tandem_trainer.run.stop import Stopped, StopRequest

SETTINGS = CriticConfig(learning_rate=1e-2, batch=4, epochs=1.0, evaluate_every=2, patience=0)


class Told(Events):
    """Keeps events in memory."""

    def __init__(self):
        super().__init__(None)
        self.events = []

    def emit(self, event, **fields):
        self.events.append({"event": event, **fields})

    def of(self, kind):
        return [event for event in self.events if event["event"] == kind]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def base(tmp_path):
    return tiny_base(tmp_path)


def a_run(folder, base, tokens=4096, stop=None, **resources):
    config = RunConfig(ModelConfig("base"), DataConfig(), seed=3, resources=ResourcesConfig(**resources))
    events, ranks = Told(), Ranks()
    stop = StopRequest(folder) if stop is None else stop
    meter = Meter(shape_of(base.model.config), "lora", None, base.device, 1)
    return Run(folder, config, TokenBudget(tokens, ranks, stop, events), meter, {"critic": 1.0, "policy": 5.0})


def trained(folder, base, run, settings=SETTINGS, train=12, held_out=4):
    """Trains a critic on small pairs; returns the weights of the adapter."""
    objective = Critic(settings, cache(base, folder))
    pairs = secret_pairs(train, 0), secret_pairs(held_out, 1)
    objective.precompute([*pairs[0], *pairs[1]])
    figures = optimise("critic", base, objective, *pairs, settings, run)
    return figures, {name: weight.clone() for name, weight in base.state().items()}


def assert_equal(left, right):
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)


def test_without_a_learning_rate_a_stage_has_that_of_the_paper_and_ten_times_that_for_adapters():
    assert peak_learning_rate(CriticConfig(), ModelConfig(base="")) == 2e-6
    assert peak_learning_rate(PolicyConfig(), ModelConfig(base="", training="full")) == 2e-7
    assert peak_learning_rate(SETTINGS, ModelConfig(base="")) == 1e-2


def test_the_rate_rises_over_the_warm_up_and_falls_to_a_tenth():
    rates = [learning_rate(step, 100, 1.0, 0.03) for step in range(100)]
    assert rates[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert rates[3] == 1.0
    assert [rates[99], learning_rate(150, 100, 1.0, 0.03)] == pytest.approx([0.1, 0.1])
    assert rates[51] == pytest.approx(0.1 + 0.45 * (1 + math.cos(math.pi / 2)), abs=1e-9)
    assert rates[3:] == sorted(rates[3:], reverse=True)
    assert learning_rate(0, 1, 1.0, 0.0) == 1.0


def test_steps_follow_from_epochs_and_batch_and_are_at_most_as_many_as_said():
    settings = CriticConfig(batch=8, epochs=1.5)
    assert stage_steps(17, settings) == 4  # 3 in an epoch, the last of a single example; 4.5 is rounded to even
    assert stage_steps(17, replace(settings, max_steps=2)) == 2
    assert stage_steps(1, replace(settings, epochs=0.01)) == 1
    assert stage_steps(17, PolicyConfig(batch=8, epochs=1.5, more_epochs=1.0)) == 7


def test_steps_far_below_the_spacing_of_bfloat16_add_up():
    weight = Parameter(torch.ones(4, dtype=torch.bfloat16))
    adam = Adam([("weight", weight)], weight_decay=0.0)
    for _ in range(1000):
        (weight.float().sum() * 3).backward()
        adam.gradients()
        adam.step(2e-5)
    assert torch.allclose(weight.float(), torch.full((4,), 0.98), atol=2**-8)
    for _ in range(1000):
        weight.sum().backward()
    assert adam.gradients()[0][0].item() == 1000.0  # bfloat16 would have stayed at 256


def test_float32_weights_are_changed_as_by_adamw_itself():
    ours, theirs = Parameter(torch.linspace(-1, 1, 5)), Parameter(torch.linspace(-1, 1, 5))
    adam = Adam([("weight", ours)], weight_decay=0.1)
    reference = torch.optim.AdamW([theirs], lr=0.01, betas=BETAS, weight_decay=0.1)
    for _ in range(3):
        for weight in (ours, theirs):
            (weight**2).sum().backward()
        before = ours._version
        adam.step(0.01)
        assert ours._version > before  # as FSDP watches it
        reference.step()
        reference.zero_grad()
    assert torch.allclose(ours, theirs, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_an_optimiser_that_is_loaded_goes_on_as_if_it_had_never_stopped(dtype):
    def steps(adam, weight, count):
        for _ in range(count):
            (weight.float() ** 3).sum().backward()
            adam.step(0.01)

    straight = Parameter(torch.linspace(-1, 1, 5).to(dtype))
    adam = Adam([("weight", straight)], weight_decay=0.0)
    steps(adam, straight, 2)
    state = {name: tensor.clone() for name, tensor in adam.state().items()}
    resumed = Parameter(straight.detach().clone())
    other = Adam([("weight", resumed)], weight_decay=0.0)
    overwrite(other.state(), state)
    steps(adam, straight, 2)
    steps(other, resumed, 2)
    assert torch.equal(straight, resumed)


def test_a_step_says_how_it_went(tmp_path, base):
    run = a_run(tmp_path, base)
    figures, _ = trained(tmp_path, base, run)
    steps = run.events.of("step")
    assert [(step["step"], step["steps"], step["stage"]) for step in steps] == [(n, 3, "critic") for n in (1, 2, 3)]
    for name in (
        "epoch", "loss", "margin", "accuracy", "log_ratio_chosen", "log_ratio_rejected", "gradient_norm",
        "learning_rate", "tokens", "tokens_per_second", "memory_mb", "seconds_left",
    ):  # fmt: skip
        assert isinstance(steps[0][name], (int, float)), name
    assert steps[0]["loss"] == pytest.approx(math.log(2) + SETTINGS.nll * steps[0]["nll"])
    assert steps[-1]["epoch"] == 1.0
    assert steps[0]["mfu"] is None  # the peak of this device is unknown
    # The plan expects policy to take five times as long as critic.
    spent, left = figures["seconds"], steps[-1]["seconds_left"]
    assert left == pytest.approx(5 * spent, abs=0.1)
    assert [(look["step"], look["best"]) for look in run.events.of("evaluation")] == [(0, False), (2, True), (3, True)]


def test_the_best_held_out_step_is_what_remains_and_patience_ends_the_stage(tmp_path, base, monkeypatch):
    from tandem_trainer.run import optimise as loop

    margins = iter([0.0, 0.1, 0.9, 0.5, 0.4])
    kept = {}

    def evaluate(base, *_):
        margin = next(margins)
        kept[margin] = {name: weight.clone() for name, weight in base.state().items()}
        return {"margin": margin, "loss": -margin}

    monkeypatch.setattr(loop, "evaluate", evaluate)
    settings = replace(SETTINGS, epochs=10.0, evaluate_every=1, patience=2)
    run = a_run(tmp_path, base)
    figures, weights = trained(tmp_path, base, run, settings)
    assert (figures["steps"], figures["used_step"], figures["held_out_margin"]) == (4, 2, 0.9)
    assert_equal(weights, kept[0.9])
    assert "ends at step 4 of 30" in run.events.of("notice")[-1]["message"]


def test_a_loss_that_is_no_number_ends_the_run_before_the_weights_are_touched(tmp_path, base, monkeypatch):
    before = {name: weight.clone() for name, weight in base.state().items()}
    run = a_run(tmp_path, base)
    objective = Critic(SETTINGS, cache(base, tmp_path))
    pairs = secret_pairs(4, 0)
    objective.precompute(pairs)
    real = objective.loss
    monkeypatch.setattr(objective, "loss", lambda *given: (real(*given)[0] * float("nan"), real(*given)[1]))
    with pytest.raises(Fault, match="at step 1 of critic: lower its learning_rate"):
        optimise("critic", base, objective, pairs, [], SETTINGS, run)
    assert_equal(base.state(), before)


def test_in_float16_the_loss_is_scaled_until_no_gradient_overflows(tmp_path):
    folder = tiny_model(tmp_path / "model")
    base = load_base(ModelConfig(str(folder), device="cpu", dtype="float16", lora_rank=8), run_folder=tmp_path)
    run = a_run(tmp_path, base, checkpoint_minutes=0)
    objective = Critic(SETTINGS, cache(base, tmp_path))
    pairs = secret_pairs(12, 0)
    objective.precompute(pairs)
    real = objective.loss
    objective.loss = lambda *given: (real(*given)[0] * 64, real(*given)[1])
    optimise("critic", base, objective, pairs, [], SETTINGS, run)
    norms = [step["gradient_norm"] for step in run.events.of("step")]
    assert len(norms) == 3
    assert all(0 < norm < float("inf") for norm in norms)
    assert 1 <= run.checkpoint("critic").state["progress"]["loss_scale"] < 2**16


class StopAfter:
    """A request to stop that appears after a number of checks."""

    def __init__(self, count):
        self.left = count

    def __bool__(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("asked", [0, 1, 5, 9])
def test_a_run_that_was_stopped_anywhere_ends_bit_equal_to_one_that_was_not(tmp_path, base, asked):
    settings = replace(SETTINGS, epochs=2.0)
    start = {name: weight.clone() for name, weight in base.state().items()}
    _, straight = trained(tmp_path / "straight", base, a_run(tmp_path / "straight", base, tokens=40), settings)
    overwrite(base.state(), start)
    folder = tmp_path / "stopped"
    stopped = a_run(folder, base, tokens=40, stop=StopAfter(asked))
    with pytest.raises(Stopped):
        trained(folder, base, stopped, settings)
    overwrite(base.state(), start)
    again = a_run(folder, base, tokens=40)
    figures, resumed = trained(folder, base, again, settings)
    assert figures["steps"] == 6
    assert_equal(resumed, straight)
    assert len(stopped.events.of("step")) + len(again.events.of("step")) == 6  # no step is repeated


def test_without_the_checkpoint_of_the_best_step_the_best_from_here_on_is_used(tmp_path, base, monkeypatch):
    from tandem_trainer.run import optimise as loop

    settings = replace(SETTINGS, epochs=2.0, evaluate_every=1)
    margins = iter([0.0, 0.1, 0.9, 0.8, 0.2, 0.4, 0.3, 0.2])  # at the steps 0 to 3, and 3 to 6
    real = loop._add_gradients

    def evaluate(*_):
        margin = next(margins)
        return {"margin": margin, "loss": -margin}

    def stopped(*given):
        if len(run.events.of("step")) == 3:
            raise Stopped
        return real(*given)

    monkeypatch.setattr(loop, "evaluate", evaluate)
    monkeypatch.setattr(loop, "_add_gradients", stopped)
    run = a_run(tmp_path, base)
    with pytest.raises(Stopped):
        trained(tmp_path, base, run, settings)
    (run.checkpoint("critic", 2).path / "checkpoint.json").write_text("{")
    monkeypatch.setattr(loop, "_add_gradients", real)
    run = a_run(tmp_path, base)
    figures, _ = trained(tmp_path, base, run, settings)
    assert (figures["steps"], figures["used_step"], figures["held_out_margin"]) == (6, 4, 0.4)
    assert "step 2 of critic" in run.events.of("notice")[1]["message"]


def limited(most):
    """Returns `token_log_probs` with memory for `most` prompt and response tokens."""

    def token_log_probs_with_limit(model, turns, **settings):
        if sum(len(turn.prompt) + len(turn.response) for turn in turns) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return token_log_probs(model, turns, **settings)

    return token_log_probs_with_limit


def test_out_of_memory_halves_the_budget_and_repeats_the_same_step(tmp_path, base, monkeypatch):
    start = {name: weight.clone() for name, weight in base.state().items()}
    _, _ = trained(tmp_path / "a", base, roomy := a_run(tmp_path / "a", base))
    overwrite(base.state(), start)
    objective = Critic(SETTINGS, cache(base, tmp_path))
    train, held_out = secret_pairs(12, 0), secret_pairs(4, 1)
    objective.precompute([*train, *held_out])
    monkeypatch.setattr(objective_module, "token_log_probs", limited(70))
    tight = a_run(tmp_path / "b", base)
    optimise("critic", base, objective, train, held_out, SETTINGS, tight)
    notices = [event["message"] for event in tight.events.of("notice")]
    assert notices
    assert all("Out of memory: micro-batches have at most" in message for message in notices)
    assert tight.budget.tokens < 4096
    for one, other in zip(roomy.events.of("step"), tight.events.of("step"), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], abs=1e-5)
        assert one["gradient_norm"] == pytest.approx(other["gradient_norm"], rel=1e-3)


def test_one_example_that_alone_does_not_fit_ends_the_run_with_what_to_change(tmp_path, base, monkeypatch):
    objective = Critic(SETTINGS, cache(base, tmp_path))
    pairs = secret_pairs(4, 0)
    objective.precompute(pairs)
    monkeypatch.setattr(objective_module, "token_log_probs", limited(10))
    with pytest.raises(Fault, match=r"alone does not fit into memory: lower max_tokens .+checkpoint_activations"):
        optimise("critic", base, objective, pairs, [], SETTINGS, a_run(tmp_path, base))


def test_which_errors_are_out_of_memory():
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory."))
    assert is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 1 GB, max allowed: 2 GB)."))
    assert not is_out_of_memory(RuntimeError("The size of tensor a (2) must match the size of tensor b (3)"))


def test_the_newest_and_the_best_checkpoint_stay_and_where_they_are_one_the_one_before(tmp_path, base):
    run = a_run(tmp_path, base)
    run.budget.tokens = 77

    def steps():
        return sorted((checkpoint.state["step"] for checkpoint in a_run(tmp_path, base).checkpoints), key=str)

    for step, best, kept in [(1, None, [1]), (2, 2, [1, 2]), (3, 2, [2, 3]), (4, 2, [2, 4]), (5, 5, [4, 5])]:
        run.save("critic", step, {}, {"trained": base.state()}, best)
        assert steps() == kept
    run.finish("critic", {"loss": 0.5}, {"trained": base.state(), "objective": {}})
    assert steps() == ["done"]
    again = a_run(tmp_path, base)
    assert again.budget.tokens == 77  # a smaller budget is remembered
    assert again.checkpoint("critic") is None
    assert again.result("critic").state["figures"] == {"loss": 0.5}
    run.save("policy", 1, {}, {"trained": base.state()}, None)
    assert steps() == [1, "done"]
