"""Rows say what their rewards measure; rewards of different measures are never compared."""

import json
from pathlib import Path

import pytest

from tandem_trainer.data.dialogue import TESTS, Measure
from tandem_trainer.data.measures import require_one_measure
from tandem_trainer.data.prompt_file import SHIPPED, agent_prompt
from tandem_trainer.data.rows import read_rows
from tandem_trainer.fault import Fault

WANTED = "<html><body><h1>Bakery</h1></body></html>"
FUNCTION = {"problem_description": "Write f.", "ground_truth": "def f(): pass", "test_cases": {"test1": "f()"}}
PAGE = {"problem_description": "A page for a bakery.", "ground_truth": WANTED, "kind": "page"}
HISTORY = [
    {"role": "agent", "content": "<html>1</html>"},
    {"role": "human", "content": "A heading is missing."},
    {"role": "agent", "content": "Which one?"},
    {"role": "human", "content": "Bakery."},
    {"role": "agent", "content": "<html>2</html>"},
]
GRADE = {"measure": "structure", "version": 1, "renderer": "Chromium 140"}
DRAFTS = [{"turn": 1, "score": 0.5}, {"turn": 3, "score": 0.875}]


def page_row(name: str = "p", mode: str = "fixed", **grade) -> dict:
    tandem = {"episode": name, "grading_mode": mode, "page": {**GRADE, "drafts": DRAFTS, **grade}}
    return {"task": PAGE, "dialogue_history": HISTORY, "answer": WANTED, "reward": 0.875, "tandem": tandem}


FUNCTION_ROW = {"task": FUNCTION, "dialogue_history": HISTORY[:1], "answer": "", "reward": 1}


def read(folder: Path, *rows: dict, **wanted: str):
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_rows([file], **wanted)


def test_a_row_of_a_page_has_its_measure_its_drafts_and_the_wanted_html(tmp_path):
    (dialogue,) = read(tmp_path, page_row()).dialogues
    assert (dialogue.reward, dialogue.hidden_information) == (0.875, WANTED)
    assert dialogue.measure == Measure("structure", 1, "fixed", "Chromium 140")
    assert dialogue.drafts == ((0, 0.5), (2, 0.875))


def test_a_published_row_of_a_page_is_known_by_its_html_and_asked_for_as_pages_are(tmp_path):
    published = {"task": {**PAGE, "kind": None}, "dialogue_history": HISTORY, "answer": WANTED, "reward": 0.8}
    (dialogue,) = read(tmp_path, published).dialogues
    assert (dialogue.is_page, dialogue.measure, dialogue.drafts) == (True, Measure(None), None)
    asked = agent_prompt(SHIPPED / "agent-page.md").render(
        description=PAGE["problem_description"], maxTurns=10, replyLimit=1000
    )
    assert dialogue.messages[0]["content"] == asked


@pytest.mark.parametrize(
    ("grade", "reason"),
    [
        ({"measure": 1}, "measure and version"),
        ({"renderer": 1}, "renderer of tandem"),
        ({"drafts": [{"turn": 4, "score": 1}]}, "turns from 1 to 3"),
        ({"drafts": [{"turn": 2, "score": 1}, {"turn": 1, "score": 1}]}, "in order"),
        ({"drafts": [{"turn": 1}]}, "each with its score"),
        ({"drafts": {}}, "must be a list"),
    ],
)
def test_a_grade_that_cannot_be_read_is_a_bad_line(tmp_path, grade, reason):
    (problem,) = read(tmp_path, page_row(), page_row(**grade)).problems
    assert reason in problem.reason


MIXTURES = [
    ([FUNCTION_ROW, page_row()], '1 by tests, 1 by structure 1 .*; set data.measure to "structure" or "tests"'),
    ([page_row("a"), page_row("b", version=2)], 'set data.measure to "structure 1" or "structure 2"'),
    ([page_row("a"), page_row("b", renderer="frame 1")], 'set data.renderer to "Chromium 140" or "frame 1"'),
    ([page_row("a"), page_row("b", mode="paper")], r"\(mode paper, .*; leave out the rows of one grading mode"),
    ([page_row("a"), page_row("b", page=None) | {"tandem": {}}], "rows that do not say their measure"),
]


@pytest.mark.parametrize(("rows", "words"), MIXTURES)
def test_a_mixture_of_measures_is_refused_with_the_setting_that_chooses(tmp_path, rows, words):
    with pytest.raises(Fault, match=words) as fault:
        require_one_measure(read(tmp_path, *rows).dialogues)
    assert fault.value.usage
    require_one_measure(read(tmp_path, rows[0], rows[0]).dialogues)


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({"measure": "structure"}, ["p", "q", "r"]),
        ({"measure": "structure 2"}, ["q"]),
        ({"renderer": "frame 1"}, ["r"]),
    ],
)
def test_a_measure_or_a_renderer_is_chosen(tmp_path, wanted, left):
    rows = [page_row("p"), page_row("q", version=2), page_row("r", renderer="frame 1"), page_row("s", measure="clip")]
    found = read(tmp_path, *rows, **wanted)
    assert [dialogue.id for dialogue in found.dialogues] == left
    assert sum(found.left_out.values()) == 4 - len(left)


def test_functions_are_measured_by_their_tests_whoever_drew_the_pages_beside_them(tmp_path):
    (dialogue,) = read(tmp_path, FUNCTION_ROW, page_row(), measure="tests", renderer="frame 1").dialogues
    assert dialogue.measure == TESTS
