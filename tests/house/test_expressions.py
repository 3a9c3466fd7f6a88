"""No regular expression takes more than linear time, since most of them read text of strangers."""

import ast
import builtins
import gc
import importlib
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transduce

parser: Any = importlib.import_module("re._parser")
ROOT = Path(transduce.__file__).parent
OWN = ("view/page/squeeze.py",)  # reads this package's own scripts and styles only
FOR_GPUS = "fast/triton_*.py"  # they need Triton, and have no expression
METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
LENGTH = 10_000  # characters: about a second in quadratic time
SECONDS = 0.2  # of processor time, after which a search is given up; linear time takes 0.001
ENDS = ("", "\x00!")  # what comes after the repetition, so that the expression fails there
MEMBERS = 6  # members of a class of characters that are tried
CATEGORIES = {
    "CATEGORY_SPACE": " \n",
    "CATEGORY_DIGIT": "1",
    "CATEGORY_WORD": "a1_",
    "CATEGORY_NOT_SPACE": "a.",
    "CATEGORY_NOT_DIGIT": "a.",
    "CATEGORY_NOT_WORD": " .",
}


def find_expressions() -> Iterator[Any]:
    """Every expression of the package, with each way in which it is used."""
    files = [path for path in ROOT.rglob("*.py") if not path.match(FOR_GPUS)]
    names = {path: vars(importlib.import_module(name_module(path))) for path in files}
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    having = [path for path in files if re.search(r"re\.", texts[path]) or has_pattern(names[path])]
    trees = {path: ast.parse(texts[path]) for path in having}
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    uses: dict[Any, set[str]] = {}  # the methods that are called on each expression
    for path, node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = names[path].get(getattr(node.value, "id", ""))
            if isinstance(owner, re.Pattern):
                uses.setdefault(owner, set()).add(node.attr)
    for path, node in nodes:
        place = str(path.relative_to(ROOT))
        if isinstance(node, ast.Call) and place not in OWN:
            found = read_call(node, names[path], uses)
            yield from ((f"{place}:{node.lineno}", *one) for one in found)


def has_pattern(names: dict[str, Any]) -> bool:
    return any(isinstance(value, re.Pattern) for value in names.values())


def read_call(node: ast.Call, names: dict[str, Any], uses: dict[Any, set[str]]) -> Iterator[Any]:
    """The expression of a call of the module re, with each method that is called on it."""
    match node.func:
        case ast.Attribute(value=ast.Name("re"), attr="compile"):
            pattern = evaluate(node, names)
            yield from ((pattern, method) for method in sorted(uses.get(pattern, METHODS)))
        case ast.Attribute(value=ast.Name("re"), attr=method) if method in METHODS:
            yield re.compile(evaluate(node.args[0], names)), method


def name_module(path: Path) -> str:
    return ".".join(("transduce", *path.relative_to(ROOT).with_suffix("").parts))


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of an expression of constants; text made of others is letters for private use."""
    free = (
        {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        - names.keys()
        - vars(builtins).keys()
    )
    local = {name: chr(0xE000 + at) for at, name in enumerate(sorted(free))}
    return eval(compile(ast.Expression(node), "", "eval"), names | local)


def members(items: Any) -> str:
    """Some characters of a class such as [^>a-z]."""
    found, negated = "", items[0][0].name == "NEGATE"
    for code, value in items:
        if code.name == "LITERAL":
            found += chr(value)
        elif code.name == "RANGE":
            found += chr(value[0]) + chr(value[1])
        elif code.name == "CATEGORY":
            found += CATEGORIES[value.name]
    if negated:
        found = "".join(one for one in "a <\"'(.-1&\n" if one not in found)
    return found[:MEMBERS]


def choices(code: Any, value: Any) -> list[str]:  # noqa: C901 - one case for each kind of part
    """Texts that one part of an expression matches, the simplest first."""
    match code.name:
        case "LITERAL":
            return [chr(value)]
        case "NOT_LITERAL":
            return ["b" if value == ord("a") else "a"]
        case "ANY":
            return ["a", " ", "."]
        case "IN":
            return list(members(value))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [one * value[0] for one in samples(value[2])]
        case "SUBPATTERN":
            return samples(value[3])
        case "ATOMIC_GROUP":
            return samples(value)
        case "BRANCH":
            return [one for branch in value[1] for one in samples(branch)]
    return [""]  # a place such as ^, or what only looks ahead or back


def samples(tree: Any) -> list[str]:
    """Some texts that an expression matches."""
    found = [""]
    for code, value in tree:
        options = choices(code, value) or [""]
        first, *others = found
        found = [first + one for one in options] + [one + options[0] for one in others]
    return found[: 2 * MEMBERS]


def repetitions(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Each part that an expression repeats, as (what comes before it, a text that it matches)."""
    for code, value in tree:
        if code.name.endswith("_REPEAT"):
            if value[1] > 100:
                yield from ((before, body) for body in samples(value[2]) if body)
            yield from repetitions(value[2], before)
        elif code.name == "SUBPATTERN":
            yield from repetitions(value[3], before)
        elif code.name == "BRANCH":
            for branch in value[1]:
                yield from repetitions(branch, before)
        before += choices(code, value)[0]


def attack(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Long texts that repeat what an expression repeats, or the beginning of what it matches."""
    for before, body in dict.fromkeys(repetitions(parser.parse(pattern.pattern, pattern.flags))):
        for text in (
            before + body * (LENGTH // len(body)),
            (before + body) * (LENGTH // len(before + body)),
        ):
            yield from (text + end for end in ENDS)


@contextmanager
def watchdog() -> Iterator[None]:
    """Raise TimeoutError in a with block that takes too much of the processor's time."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, give_up)
    gc.disable()  # a collection amid many tests' objects can take as long
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()
        signal.signal(signal.SIGVTALRM, before)


def use(pattern: re.Pattern[Any], method: str, text: str) -> None:
    given = text.encode("latin1", "replace") if isinstance(pattern.pattern, bytes) else text
    found = getattr(pattern, method)(*((given[:0], given) if "sub" in method else (given,)))
    for _ in found if method == "finditer" else ():
        pass


def find_slow(expressions: Iterable[Any]) -> dict[str, str]:
    """The places of expressions that are given up, each with the beginning of such a text."""
    slow = {}
    for place, pattern, method in expressions:
        for text in attack(pattern):
            try:
                with watchdog():
                    use(pattern, method, text)
            except TimeoutError:
                slow[f"{place} {method}"] = text[:30]
                break
    return slow


def test_every_expression_takes_linear_time():
    assert find_slow(find_expressions()) == {}


def test_the_control_of_a_quadratic_expression_is_caught():
    pattern = re.compile(r"[^\W\d_]{3,}[.?!]\s*$")
    assert find_slow([("here", pattern, "search")])
