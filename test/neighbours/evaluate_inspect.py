"""Evaluates a served model with Inspect AI, and prints what its log says as one JSON object.

Usage: evaluate_inspect.py BASE_URL MODEL FOLDER. `samples.json` in the folder is a list of objects with `input` and
`target`; the log is written beside it.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate

base_url, name, folder = sys.argv[1:]
samples = json.loads(Path(folder, "samples.json").read_text())
model = get_model(f"openai-api/tandem/{name}", base_url=base_url, api_key="none")
task = Task(
    dataset=[Sample(**sample) for sample in samples],
    solver=generate(),
    scorer=exact(),
    config=GenerateConfig(temperature=0, max_tokens=200, seed=1, logprobs=True, top_logprobs=2),
)
[log] = eval(task, model=model, log_dir=folder, display="none")
print(
    json.dumps(
        {
            "status": log.status,
            "error": log.error and log.error.message,
            "mean": log.results and log.results.scores[0].metrics["mean"].value,
            "samples": [
                {
                    "text": sample.output.completion,
                    "stop": sample.output.stop_reason,
                    "logprobs": sample.output.choices
                    and sample.output.choices[0].logprobs
                    and len(sample.output.choices[0].logprobs.content),
                    "written": sample.output.usage and sample.output.usage.output_tokens,
                }
                for sample in log.samples or []
            ],
        }
    )
)
