"""Draws the candidates of the first round by vLLM on the Ray cluster, through `ray.data.llm`.

The policy of that round is the base model itself. vLLM gives tokens and their log-probabilities after temperature and
top-p; makers then compare these with the trainer's own. The result depends on which requests are computed together:
another draw with the same seed differs.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import RunConfig
from ..fault import Fault
from ..run.stop import Stopped, StopRequest
from .record import last_line

if TYPE_CHECKING:
    from ray.data import Dataset

    from ..run.shards import Shards

BATCH = 64  # requests that Ray hands to an engine together; an engine has eight such batches at a time
POLL_INTERVAL = 0.5  # seconds between looks at requests to stop
SILENCE = 1800  # seconds without a turn after which vLLM is given up; Ray starts an engine that fails again and again


def draw(
    shards: Shards, config: RunConfig, folder: Path, request: StopRequest, tell: Callable[[int, int], None]
) -> None:
    """Keeps the turns for `Shards.sample`. tell: gets (done, all) after each shard. Errors: Fault, Stopped."""
    import numpy as np
    import ray

    from ..turn import Turn

    missing = [number for number in shards.missing() if not shards.is_drawn(number)]
    if not missing:
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)  # the log of the job is for what goes wrong
    each, done = shards.settings.sampled, 0
    found: dict[int, dict[int, Turn]] = {number: {} for number in missing}
    rows = ray.data.from_items([{"shard": number} for number in missing]).flat_map(Requests(folder, config), num_cpus=0)
    for row in _until_stopped(_processor(shards, config, folder)(rows), request):
        number, place = row["shard"], row["place"]
        history = shards.histories[number][place // each]
        ids, said = np.array(row["ids"], np.int32), np.array(row["log_probs"], np.float32)
        found[number][place] = Turn(history.prompt, ids, sampled=True, log_probs=said)
        count = len(shards.histories[number]) * each
        if len(found[number]) == count:
            turns = found.pop(number)
            flat = [turns[place] for place in range(count)]
            shards.write_drawn(number, [flat[start : start + each] for start in range(0, count, each)])
            done += 1
            tell(done, len(missing))


def _until_stopped(rows: Dataset, request: StopRequest) -> Iterator[dict[str, Any]]:
    """The process must end where this raises: the thread reads on. Errors: Stopped, Fault."""
    come: queue.Queue[dict[str, Any] | BaseException | None] = queue.Queue()

    def read() -> None:
        try:
            for row in rows.iter_rows():
                come.put(row)
            come.put(None)
        except BaseException as error:  # it is raised where it is read
            come.put(error)

    threading.Thread(target=read, name="vLLM", daemon=True).start()
    waited = 0.0
    while True:
        if request:
            raise Stopped
        try:
            row = come.get(timeout=POLL_INTERVAL)
        except queue.Empty:
            waited += POLL_INTERVAL
            if waited > SILENCE:
                raise _failed(f"it has drawn nothing for {SILENCE // 60} minutes") from None
            continue
        if row is None:
            return
        if isinstance(row, BaseException):
            raise _failed(last_line(getattr(row, "cause", row))) from row
        waited = 0.0
        yield row


def _failed(why: str) -> Fault:
    return Fault(
        f"vLLM has failed on the cluster ({why}): the log of the job says more, and resources.cluster.sampler set to "
        "own does without it."
    )


class Requests:
    """Makes the requests in processes of the cluster, so that the prompts are never all in memory."""

    def __init__(self, folder: Path, config: RunConfig):
        self.folder, self.config = folder, config
        self.shards: Shards | None = None

    def __call__(self, row: dict[str, int]) -> Iterator[dict[str, Any]]:
        from ..run.candidate_work import Work

        if self.shards is None:
            self.shards = Work.read(self.folder).shards(self.folder, self.config)
        number, settings = row["shard"], self.shards.settings
        prompts = [history.prompt.tolist() for history in self.shards.histories[number]]
        for place in range(len(prompts) * settings.sampled):
            yield {
                "shard": number,
                "place": place,
                "tokenized_prompt": prompts[place // settings.sampled],
                "sampling_params": {
                    "temperature": settings.temperature,
                    "top_p": settings.top_p,
                    "max_tokens": settings.max_new_tokens,
                    "stop_token_ids": sorted(self.shards.stop_ids),
                    "logprobs": 0,  # that of the drawn token alone
                    "detokenize": False,
                },
            }


def _processor(shards: Shards, config: RunConfig, folder: Path) -> Any:
    from ray.data.llm import build_processor, vLLMEngineProcessorConfig

    from ..model.folder import find_model
    from ..run.resume import as_begun

    cluster = config.resources.cluster
    on_gpus = cluster.gpus_per_worker == 1
    dtype = ("bfloat16" if on_gpus else "float32") if config.model.dtype == "auto" else config.model.dtype
    longest = max(len(history.prompt) for history in shards.all_histories)
    engine = {
        "dtype": dtype,
        "max_model_len": longest + shards.settings.max_new_tokens,
        "logprobs_mode": "processed_logprobs",
        "generation_config": "vllm",  # the settings of the model folder are not those of the run
        "seed": config.seed,
    }
    return build_processor(
        vLLMEngineProcessorConfig(
            model_source=str(find_model(as_begun(config.model, folder), folder)),
            engine_kwargs=engine,
            concurrency=(1, cluster.workers),
            batch_size=BATCH,
            placement_group_config=None if on_gpus else {"bundles": [{"CPU": 1}]},
            chat_template_stage=False,
            tokenize_stage=False,
            detokenize_stage=False,
            log_engine_metrics=False,
        ),
        preprocess=lambda row: row,
        postprocess=_drawn,
    )


def _drawn(row: dict[str, Any]) -> dict[str, Any]:
    ids = list(row["generated_tokens"])
    said = [about[token]["logprob"] for token, about in zip(ids, row["logprobs"], strict=True)]
    return {"shard": row["shard"], "place": row["place"], "ids": ids, "log_probs": said}
