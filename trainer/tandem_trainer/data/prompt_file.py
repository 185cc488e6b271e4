"""Prompt files: Markdown with `{{placeholders}}`, rendered exactly as Tandem's `src/core/dialogue/prompts.ts` does.

A comment at the top is left out. Tandem plays with the same `agent.md`, so critic and policy read the same request as
the agent; `simulator.md`, `simulator-specification.md` and `short/agent.md` beside it are read by Tandem alone. Those
of web pages are `agent-page.md` and `critic-page.md`.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from ..fault import UsageFault
from ..regular_file import MAX_TEXT, require_regular

SHIPPED = Path(__file__).parent / "prompts"
AGENT = ("description", "maxTurns", "replyLimit")
CRITIC = ("hiddenInformation",)

# White space by JavaScript's `trim` and `\s`; Python's differ in five characters.
EN_QUAD_TO_HAIR_SPACE = "".join(map(chr, range(0x2000, 0x200B)))
SPACE = f"\t\n\v\f\r \u00a0\u1680{EN_QUAD_TO_HAIR_SPACE}\u2028\u2029\u202f\u205f\u3000\ufeff"
LEADING_COMMENT = re.compile(rf"^[{SPACE}]*<!--[\s\S]*?-->[{SPACE}]*")
PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class Prompt:
    """version: the hash by which the trajectory log names the prompt of a dialogue."""

    def __init__(self, text: str):
        self.text = text.removeprefix("\ufeff")
        self.version = hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def render(self, **values: str | int) -> str:
        """Values are not searched for placeholders."""
        filled = PLACEHOLDER.sub(lambda found: str(values[strip(found[1])]), LEADING_COMMENT.sub("", self.text))
        return strip(filled)


def read_prompt(file: str | Path, known: Sequence[str]) -> Prompt:
    """known: the placeholders that it may use; it must use the first. Raises Fault for an unusable file."""
    try:
        require_regular(Path(file), MAX_TEXT)
        prompt = Prompt(Path(file).read_bytes().decode())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"The prompt file {file} cannot be read ({error}); fix it or leave it out.") from error
    text = LEADING_COMMENT.sub("", prompt.text)
    used = [strip(name) for name in PLACEHOLDER.findall(text)]
    if strip(text) == "":
        raise UsageFault(f"The prompt file {file} is empty; write a prompt or leave it out.")
    for name in used:
        if name not in known:
            may = ", ".join(f"{{{{{each}}}}}" for each in known)
            what = f"uses {{{{{name}}}}}, which does not exist; it may use {may}"
            raise UsageFault(f"The prompt file {file} {what}.")
    if known[0] not in used:
        raise UsageFault(f"The prompt file {file} lacks {{{{{known[0]}}}}}; put it where that text belongs.")
    return prompt


def agent_prompt(file: str | Path | None = None) -> Prompt:
    """The agent's request: from `file`, or the one that ships with Tandem."""
    return read_prompt(file or SHIPPED / "agent.md", AGENT)


def critic_prompt(file: str = "critic.md") -> Prompt:
    """The text in front of the critic's first user message, of functions or of pages."""
    return read_prompt(SHIPPED / file, CRITIC)


def strip(text: str) -> str:
    """Trims as JavaScript does."""
    return text.strip(SPACE)
