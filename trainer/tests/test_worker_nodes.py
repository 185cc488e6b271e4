"""Which nodes of a cluster a run is on, and what is said of those that are lost or come back."""

from tandem_trainer.cluster.worker import Node, changed, compared, joined


def node(name: str, workers: int, state: str = "works", host: str | None = None) -> Node:
    return Node(name, host or name, workers, [], state)


def test_workers_of_a_node_are_one_line_with_their_gpus():
    a, b = Node("a", "a", 1, ["H100"]), Node("b", "b", 1, ["A100"])
    assert joined([a, b, a]) == [Node("a", "a", 2, ["H100", "H100"]), b]


def test_a_node_that_is_gone_stays_in_the_list_and_is_known_when_it_comes_back():
    first = [node("a", 1), node("b", 2), node("c", 1)]
    lost = compared(first, [node("a", 2)], {"a", "c"})
    assert lost == [node("a", 2), node("b", 0, "lost"), node("c", 0, "idle")]
    assert changed(first, lost) == "The node b is lost"
    # Ray gives a node that starts again another id.
    back = compared(lost, [node("a", 1), node("b2", 1, host="b"), node("d", 1)], {"a", "b2", "c", "d"})
    assert back == [node("a", 1), node("b2", 1, "back", "b"), node("c", 0, "idle"), node("d", 1)]
    assert changed(lost, back) == "The node b came back, the node d has joined"
    assert changed(back, compared(back, back, {"a", "b2", "c", "d"})) == ""
    assert changed(back, compared(back, [node("a", 2)], {"a", "c"})) == "The node b is lost, the node d is lost"
