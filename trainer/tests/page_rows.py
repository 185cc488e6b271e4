"""Rows of dialogues about web pages, as Tandem writes them for a run."""

WANTED = '<html><body class="bg-gray-100"><h1 class="text-3xl">Bakery {number}</h1></body></html>'
DRAFT = '<html><body class="bg-{colour}"><h1 class="text-{size}">Bakery</h1></body></html>'
REPLIES = ("The background should be light gray.", "The heading should be bigger.")
COLOURS, SIZES = ("white", "gray-100", "red-500"), ("xl", "3xl")
# Scores of the drafts of each dialogue of a task: its reward is the last one.
SCORES = ((0.4, 0.5, 0.9), (0.4, 0.7, 0.6), (0.3, 0.25), (0.35,))


def page_rows(tasks: int = 8) -> list[dict]:
    """Makes four dialogues of each task; in the second one the second message shows no page."""
    return [page_row(number, attempt) for number in range(tasks) for attempt in range(len(SCORES))]


def page_row(number: int, attempt: int) -> dict:
    task = {
        "kind": "page",
        "id": f"page-{number}",
        "problem_description": f"A page for a bakery {number}.",
        "ground_truth": WANTED.format(number=number),
    }
    drafts = [DRAFT.format(colour=COLOURS[(attempt + turn) % 3], size=SIZES[turn % 2]) for turn in range(3)]
    texts = [f"OUTPUT:\n{draft}" for draft in drafts[: len(SCORES[attempt])]]
    if attempt == 1:
        texts.insert(1, "OUTPUT:\nWhich gray?")
    messages = [{"role": "user", "content": task["problem_description"]}]
    history = []
    for turn, text in enumerate(texts):
        messages.append({"role": "assistant", "content": text})
        history.append({"role": "agent", "content": text})
        if turn < len(texts) - 1:
            messages.append({"role": "user", "content": REPLIES[turn % 2]})
            history.append({"role": "human", "content": REPLIES[turn % 2]})
    turns = [turn + 1 for turn, text in enumerate(texts) if "<html>" in text]
    scores = [{"turn": turn, "score": score} for turn, score in zip(turns, SCORES[attempt], strict=True)]
    page = {"measure": "structure", "version": 1, "renderer": "Chromium 140", "drafts": scores}
    episode = f"{task['id']}-{attempt}"
    tandem = {"version": 1, "episode": episode, "grading_mode": "fixed", "reward": SCORES[attempt][-1], "page": page}
    return {
        "task": task,
        "dialogue_history": history,
        "answer": drafts[len(SCORES[attempt]) - 1],
        "reward": SCORES[attempt][-1],
        "messages": messages,
        "tandem": tandem,
    }
