"""A run with a base on the hub keeps its first commit, even when the branch has moved on."""

import json
import os
import shutil
import time

import torch
from hub import Hub
from models import tiny_model
from safetensors.torch import load_file
from tiny_run import in_process, states, tiny_run, train

LATER = time.time() + 10_000

SCORE = """
from hub import heed
from tandem_trainer.__main__ import _command
heed({environment})
_command(["score", "--critic", {critic!r}, "--out", {out!r}, {rows!r}])
"""


def embeddings(folder) -> torch.Tensor:
    """Reads the embeddings, which no adapter changes."""
    return load_file(folder / "model.safetensors")["model.embed_tokens.weight"]


def test_a_run_its_result_its_critic_and_its_credit_are_of_the_commit_with_which_it_began(tmp_path):
    folder = tmp_path / "run"
    path = tiny_run(folder, model={"base": "tiny/model"})
    with Hub() as hub:
        environment = hub.environment(tmp_path / "home")
        patch = f"from hub import heed; heed({environment})"
        base = tiny_model(tmp_path / "first")
        (base / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
        first = hub.push("tiny/model", base)
        # The run is stopped after it has read its data and before it downloads the weights.
        (folder / "stop").touch()
        os.utime(folder / "stop", (LATER, LATER))
        assert train(path, patch).code == 0
        assert states(path)[-1][0] == "stopped"
        assert "model.safetensors" not in hub.files
        second = hub.push("tiny/model", tiny_model(tmp_path / "second", seed=1))
        ran = train(path, patch)
        assert (ran.code, ran.stderr) == (0, "")
        assert hub.asked == 1  # resolves the main branch
        begun = json.loads((folder / "configuration.json").read_text())
        assert (begun["commit"], begun["configuration"]["model"]["revision"]) == (first, None)
        for result in ("model", "critic"):
            assert torch.equal(embeddings(folder / result), embeddings(base))
            card = (folder / result / "README.md").read_text()
            assert first in card and "license: apache-2.0\nbase_model: tiny/model\n" in card
        critic = json.loads((folder / "critic" / "critic.json").read_text())
        assert (critic["base"], critic["revision"]) == ("tiny/model", first)

        # The run may not be taken to another revision.
        begun = json.loads(path.read_text())
        path.write_text(json.dumps({**begun, "model": {**begun["model"], "revision": second}}))
        refused = train(path, patch)
        assert refused.code == 2 and "model.revision" in refused.stderr

        # Another machine scores with the critic: it downloads the commit that the critic was trained with.
        shutil.rmtree(tmp_path / "home")
        out = tmp_path / "out.jsonl"
        names = {"critic": str(folder / "critic"), "out": str(out), "rows": str(folder / "rows.jsonl")}
        assert in_process(SCORE.format(environment=environment, **names)) == 0
        assert out.exists()
        snapshots = tmp_path / "home" / "hub" / "models--tiny--model" / "snapshots"
        assert [each.name for each in snapshots.iterdir()] == [first] != [second]
