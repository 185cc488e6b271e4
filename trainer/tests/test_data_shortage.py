"""`plan`, `check` and the run's own events warn of scarce data before training starts."""

import json

import pytest
from tiny_run import tiny_run, trajectory_rows, write_lines

from tandem_trainer.data.data_shortage import HELD_OUT_PAIRS, PAIRS, SUCCESSES, shortages
from tandem_trainer.run.check import main as check
from tandem_trainer.run.plan import main as plan
from tandem_trainer.run_json import read_config

SUFFICIENT_DATA = {
    "critic": {"train": PAIRS, "held_out": HELD_OUT_PAIRS},
    "policy": {"train": PAIRS, "held_out": HELD_OUT_PAIRS},
    "trajectories": 600,
    "turns": 3000,
    "turns_as_sampled": 3000,
    "turns_of_another_tokenizer": 0,
    "feedback": {},
}


def found(folder, counts, method="sweet-rl", **changes) -> dict[str, tuple[int, int]]:
    config = read_config(tiny_run(folder, method=method, **changes))
    return {short.kind: (short.have, short.enough) for short in shortages(config, {**SUFFICIENT_DATA, **counts})}


@pytest.mark.parametrize(
    ("method", "changes", "counts", "expected"),
    [
        *((method, {}, {}, {}) for method in ("sweet-rl", "rft", "multiturn-dpo")),
        ("multiturn-dpo", {}, {"trajectories": 0, "turns": 0, "feedback": {"thumbs": 3}}, {}),
        ("sweet-rl", {}, {"critic": {"train": 8, "held_out": HELD_OUT_PAIRS}}, {"pairs": (8, PAIRS)}),
        ("sweet-rl", {}, {"critic": {"train": 400, "held_out": 1}}, {"held_out_pairs": (1, HELD_OUT_PAIRS)}),
        ("sweet-rl", {"data": {"held_out": 0.0}}, {"critic": {"train": 400, "held_out": 0}}, {}),
        ("sweet-rl", {"critic": {"score": "value-head"}}, {"trajectories": 12}, {"dialogues": (12, 600)}),
        ("multiturn-dpo", {}, {"policy": {"train": 9, "held_out": 20}}, {"pairs": (9, PAIRS)}),
        ("rft", {}, {"policy": {"train": 9, "held_out": 1}}, {"successes": (9, SUCCESSES)}),
        ("sweet-rl", {}, {"turns_as_sampled": 2000}, {"token_ids": (2000, 3000)}),
        (
            "sweet-rl",
            {},
            {"turns_as_sampled": 2000, "turns_of_another_tokenizer": 900},
            {"token_ids": (2900, 3000), "tokenizer": (2100, 3000)},
        ),
    ],
)
def test_each_kind_of_shortage_has_its_number_and_the_one_that_is_enough(tmp_path, method, changes, counts, expected):
    assert found(tmp_path, counts, method, **changes) == expected


def test_the_plan_and_the_check_tell_them_with_the_number_at_hand(tmp_path, capsys):
    rows = trajectory_rows()
    rows[0]["messages"] = [
        {"role": "user", "content": "Sort the values."},
        {"role": "assistant", "content": rows[0]["dialogue_history"][-1]["content"]},
    ]
    rows[0]["dialogue_history"] = rows[0]["dialogue_history"][-1:]
    rows[0]["tandem"] = {"episode": "foreign", "turns": [{"token_ids": [99999]}]}
    run_json = tiny_run(tmp_path)
    write_lines(tmp_path / "rows.jsonl", rows)
    assert check(["--json", str(run_json)]) == 0
    told = json.loads(capsys.readouterr().out)
    have = {short["kind"]: short["have"] for short in told["shortages"]}
    assert have == {
        "pairs": told["critic"]["train"],
        "held_out_pairs": told["critic"]["held_out"],
        "token_ids": 1,
        "tokenizer": told["turns"] - 1,
    }
    assert plan(["--json", str(run_json)]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["shortages"] == told["shortages"]
