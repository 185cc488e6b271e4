"""Prompt files are rendered with their placeholders filled in, or refused in one sentence."""

import pytest

from tandem_trainer.data.prompt_file import Prompt, agent_prompt, critic_prompt, read_prompt
from tandem_trainer.fault import Fault


def test_a_prompt_is_rendered_without_its_comment_and_fills_in_only_its_own_placeholders():
    prompt = Prompt("\ufeff <!-- a\nb --> \n\u2003Do {{ description }} in {{maxTurns}}.\n\u00a0\ufeff")
    assert prompt.render(description="{{maxTurns}}\\1", maxTurns=10) == "Do {{maxTurns}}\\1 in 10."


def test_a_prompt_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path):
    cases = {
        "<!-- only a comment -->": "is empty",
        "Do {{something}}.": "uses {{something}}, which does not exist; it may use {{description}}, {{maxTurns}}",
        "Do it.": "lacks {{description}}",
    }
    for text, reason in cases.items():
        (tmp_path / "agent.md").write_text(text, encoding="utf-8")
        with pytest.raises(Fault) as fault:
            agent_prompt(str(tmp_path / "agent.md"))
        assert reason in str(fault.value)
    with pytest.raises(Fault, match="cannot be read"):
        read_prompt(tmp_path / "none.md", ("description",))


def test_the_shipped_critic_prompt_holds_the_hidden_information_and_no_comment():
    told = critic_prompt().render(hiddenInformation="def solve(): pass")
    assert "<hidden>\ndef solve(): pass\n</hidden>" in told
    assert "<!--" not in told
    assert "{{" not in told
