"""`template_renderings.json` holds what Python makes of templates; the renderer of plays is tested by the same file."""

import json
from pathlib import Path

import pytest
from transformers.utils.chat_template_utils import _compile_jinja_template

from tandem_trainer.data.template_check import check_template
from tandem_trainer.fault import Fault

FILE = Path(__file__).parent / "template_renderings.json"
SHARED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("template", "text"), SHARED["rendered"])
def test_a_template_of_the_shared_file_is_accepted_and_renders_to_its_text(template, text):
    check_template(template, "model")
    assert _compile_jinja_template(template).render(**SHARED["variables"]) == text


@pytest.mark.parametrize(("template", "construct"), SHARED["refused"])
def test_what_plays_do_not_render_alike_is_refused_by_its_name(template, construct):
    with pytest.raises(Fault) as fault:
        check_template(template, "model")
    assert f" uses {construct}, which" in str(fault.value)
    assert fault.value.usage
