"""Reads what an environment answers by plain HTTP with OpenEnv's own types, which refuse unknown fields, and checks the
observations against the environment's schemas.

Arguments: the base URL, and the id of a task.
"""

import sys

import jsonschema
import requests
from openenv.core.env_server.types import (
    EnvironmentMetadata,
    HealthResponse,
    ResetResponse,
    SchemaResponse,
    State,
    StepResponse,
)

url, task = sys.argv[1:]


def answer(response: requests.Response) -> dict:
    response.raise_for_status()
    return response.json()


def checked(observation: dict, schema: dict) -> None:
    whole = {
        **observation["observation"],
        "reward": observation["reward"],
        "done": observation["done"],
    }
    jsonschema.validate(whole, schema)


HealthResponse.model_validate(answer(requests.get(f"{url}/health")))
EnvironmentMetadata.model_validate(answer(requests.get(f"{url}/metadata")))
State.model_validate(answer(requests.get(f"{url}/state")))
schemas = answer(requests.get(f"{url}/schema"))
SchemaResponse.model_validate(schemas)

begun = answer(requests.post(f"{url}/reset", json={"task_id": task}))
ResetResponse.model_validate(begun)
checked(begun, schemas["reset_observation"])
for kind in ("ask", "answer"):
    action = {"kind": kind, "message": "def f(): return 1"}
    jsonschema.validate(action, schemas["action"])
    step = answer(requests.post(f"{url}/step", json={"task_id": task, "action": action}))
    StepResponse.model_validate(step)
    checked(step, schemas["observation"])
print("fits")
