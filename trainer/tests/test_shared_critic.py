"""Runs share a critic: the first run trains it, the others reuse it."""

from tiny_run import events, tiny_run, train


def critic_of(path) -> bytes:
    return (path.parent / "critic" / "model.safetensors").read_bytes()


def measured(path, event: str) -> list[dict]:
    """Returns a run's events of one kind about the held-out pairs of its critic."""
    names = ("loss", "margin", "accuracy", "examples", "step", "best")
    told = [one for one in events(path, event) if one["stage"] == "critic"]
    return [{name: one[name] for name in names if name in one} for one in told]


def test_a_critic_that_another_run_shared_is_not_trained_again(tmp_path, straight):
    (tmp_path / "shared").mkdir()
    both = {"preferences": True, "model": {"base": str(straight.parent / "base")}, "resources": {"shared": "../shared"}}
    first = tiny_run(tmp_path / "first", **both)
    second = tiny_run(tmp_path / "second", **both, policy={"beta": 0.5})
    other = tiny_run(tmp_path / "other", **both, critic={"beta": 0.5})
    for path in (first, second, other):
        assert train(path).code == 0
    steps = [{event["stage"] for event in events(path, "step")} for path in (first, second, other)]
    assert steps == [{"critic", "policy"}, {"policy"}, {"critic", "policy"}]
    assert measured(second, "control") == measured(first, "control") != []
    (look,) = measured(second, "evaluation")
    assert look in measured(first, "evaluation")
    assert events(second, "sample")[0]["candidates"] == events(first, "sample")[0]["candidates"]
    assert critic_of(second) == critic_of(first) == critic_of(straight)
    assert critic_of(other) != critic_of(first)
