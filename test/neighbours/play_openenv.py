"""Plays episodes at once with OpenEnv's own client.

Reads one JSON object from the command line: `url` and `episodes`, each with the fields of its `reset` and
its `actions`. Prints a list with, for each episode, its `results` in order and its `state`.
"""

import asyncio
import json
import sys

from openenv.core.generic_client import GenericEnvClient


async def play(url: str, episode: dict) -> dict:
    limits = {"connect_timeout_s": 600, "message_timeout_s": 600, "websocket_ping_timeout_s": None}
    async with GenericEnvClient(base_url=url, **limits) as env:
        results = [vars(await env.reset(**episode["reset"]))]
        for action in episode["actions"]:
            results.append(vars(await env.step(action)))
        return {"results": results, "state": await env.state()}


async def play_all(url: str, episodes: list) -> list:
    return await asyncio.gather(*(play(url, episode) for episode in episodes))


print(json.dumps(asyncio.run(play_all(**json.loads(sys.argv[1])))))
