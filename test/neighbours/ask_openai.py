"""Asks a server with OpenAI's Python package, and prints what it made of the answers as one JSON object.

Usage: ask_openai.py BASE_URL MODEL QUESTION
"""

import asyncio
import json
import sys

import openai

base_url, model, question = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
asked = {"model": model, "messages": [{"role": "user", "content": question}]}


def chat() -> dict:
    answer = client.chat.completions.create(**asked, temperature=0, logprobs=True, top_logprobs=2)
    [choice] = answer.choices
    return {
        "text": choice.message.content,
        "finish": choice.finish_reason,
        "tokens": [entry.token for entry in choice.logprobs.content],
        "likely": [[one.token for one in entry.top_logprobs] for entry in choice.logprobs.content],
        "written": answer.usage.completion_tokens,
    }


def stream() -> dict:
    """Uses the package's own accumulator, which checks the order of events."""
    with client.chat.completions.stream(
        **asked, temperature=0, logprobs=True, stream_options={"include_usage": True}
    ) as events:
        deltas = [event.delta for event in events if event.type == "content.delta"]
        answer = events.get_final_completion()
    [choice] = answer.choices
    return {
        "deltas": deltas,
        "text": choice.message.content,
        "finish": choice.finish_reason,
        "tokens": [entry.token for entry in choice.logprobs.content],
        "written": answer.usage.completion_tokens,
    }


async def many() -> list[str]:
    """Asks for eight seeds at once."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as several:
        answers = await asyncio.gather(
            *(several.chat.completions.create(**asked, seed=seed, max_tokens=40) for seed in range(8))
        )
    return [answer.choices[0].message.content for answer in answers]


print(
    json.dumps(
        {
            "models": [one.id for one in client.models.list()],
            "chat": chat(),
            "stream": stream(),
            "seeds": [asyncio.run(many()) for _ in range(2)],
        }
    )
)
