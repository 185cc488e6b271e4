"""Tandem's tasks in verifiers 0.4 (Prime Intellect), and so in prime-rl: the taskset `tandem-taskset`.

    vf-eval tandem-taskset --env.taskset.url http://127.0.0.1:8000 -m MODEL --client.base-url http://…/v1 --no-push

verifiers imports this module by that name. It finds the taskset, the environment that plays one dialogue with
`tandem serve`, and the harness that asks the model for its messages.
"""

import asyncio
import os
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient
from verifiers.v1.dialects.chat import message_to_wire

from tandem_env import Episode, Observation, dataset

__all__ = ["TandemEnv", "TandemHarness", "TandemTaskset"]

THREADS = 256  # number of dialogues that wait for the developer at once; a thread that waits costs little
TLS = ssl.create_default_context()  # reading the certificates takes longer than a message of a small model

Result = TypeVar("Result")


class TandemTasksetConfig(vf.TasksetConfig):
    url: str = "http://127.0.0.1:8000"
    """Address of `tandem serve`."""
    split: str | None = None
    """Pack whose tasks are played; all packs when unset."""
    token_var: str = "TANDEM_SERVE_TOKEN"
    """Environment variable that holds the token, where the server requires one."""

    @property
    def token(self) -> str | None:
        return os.environ.get(self.token_var)


class TandemState(vf.State):
    last: Observation | None = None
    """The last observation of the server; None before the agent's first message."""


class TandemTask(vf.Task[vf.TaskData, TandemState]):
    """A vague request. The server knows what is hidden and grades the answer; its grade is read here."""

    @property
    def key(self) -> str:
        return self.data.id or self.hash

    @vf.reward
    async def tests_passed(self, trace: vf.Trace) -> float:
        """Returns the fraction of the hidden tests that the answer passes, 0 to 1; 0 without an answer."""
        last = trace.state.last
        return (last and last.reward) or 0.0

    @vf.metric
    async def success(self, trace: vf.Trace) -> float:
        """Returns 1 when all tests pass."""
        last = trace.state.last
        return float(last is not None and last.metadata.get("success") is True)

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """Returns 1 when the agent answered, 0 when its turns ran out or it was stopped before."""
        last = trace.state.last
        return float(last is not None and last.metadata.get("ended") == "answered")


class TandemTaskset(vf.Taskset[TandemTask, TandemTasksetConfig]):
    """The tasks that the server lists, each with the first message of its dialogue as the prompt."""

    def load(self) -> Iterator[TandemTask]:
        config = self.config
        for row in dataset(config.url, config.split, config.token):
            name, prompt = row["task_id"], row["prompt"][0]["content"]
            yield TandemTask(vf.TaskData(id=name, name=name, prompt=prompt), config.task)


class TandemHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one message of a conversation, in this process: a dialogue needs no program and no sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        _trace: vf.Trace,
        _runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        _mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or []]
        # The endpoint is verifiers' own server beside this one; no proxy of the environment leads to it.
        http = DefaultAsyncHttpxClient(trust_env=False, verify=TLS)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http, timeout=None) as client:
            try:
                await client.chat.completions.create(model=ctx.model, messages=messages)
            except APIStatusError as error:
                return vf.ProgramResult(exit_code=1, stdout="", stderr=str(error))
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class TandemEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The agent that asks the developer and answers."""


class TandemEnv(vf.Env[TandemEnvConfig]):
    """Plays each task as one dialogue, with the developer at the server as the agent's user."""

    async def start(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS)

    async def stop(self) -> None:
        self._threads.shutdown()

    async def run(self, task: TandemTask, agents: vf.Agents) -> None:
        """Errors: Refused where the simulator failed, ValueError where the answer cannot be graded. Such an episode
        counts as failed, and gets no reward."""
        config = self.config.taskset
        episode = await self._wait(Episode, config.url, config.token)
        try:
            # Without a seed the server gives each episode of a task another wording of the developer.
            begun = await self._wait(episode.reset, task_id=task.data.id)
            async with agents.agent.interaction(task) as interaction:
                state = interaction.trace.state
                interaction.trace.info["tandem_episode"] = begun.metadata["episode"]
                segment = await interaction.turn()
                while not segment.terminated:
                    state.last = await self._wait(episode.step, segment.last_reply)
                    if state.last.done:
                        if state.last.reward is None:
                            why = state.last.metadata.get("not_gradable")
                            raise ValueError(f"The answer to {task.data.id} cannot be graded: {why}")
                        break
                    segment = await interaction.turn(state.last.message)
        finally:
            await self._wait(episode.close)

    def _wait(self, call: Callable[..., Result], *args: Any, **fields: Any) -> asyncio.Future[Result]:
        return asyncio.get_running_loop().run_in_executor(self._threads, lambda: call(*args, **fields))
