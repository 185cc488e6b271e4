import ast
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "tandem_trainer"


def imports_of(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports, also within functions and for types only."""
    folder = path.relative_to(PACKAGE.parent).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = ".".join((*folder[: len(folder) + 1 - node.level], *filter(None, [node.module])))
            names = [f"{base}.{alias.name}" for alias in node.names]
            found.update(name if name in modules else base for name in names)
    return found & modules.keys()


def test_no_module_imports_one_that_imports_it():
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    TopologicalSorter({name: imports_of(path, modules) for name, path in modules.items()}).prepare()
