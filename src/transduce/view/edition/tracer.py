"""Runs the functions of `paper/` on a tiny model, and records the values that statements give.

The model learns three sentences and translates them. All values in `SIZES` differ, so
that a reader can tell d_k from d_v, for example, in a shape. Values are recorded when a statement
runs for the first time.
"""

import ast
import dataclasses
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType
from typing import Any, final

import torch
from torch import Tensor, nn

from transduce.machine.process_settings import use_threads
from transduce.packed import Batch, Packed
from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.search import beam_search
from transduce.paper.training import Adam, Update, train
from transduce.settings import Architecture, Search, Training
from transduce.view.edition.chapters import PACKAGE, Chapter, first_line
from transduce.vocabulary import BEGIN, END

PAIRS = (
    ("the cat sleeps .", "die Katze schläft ."),
    ("she saw a small house .", "sie hat ein kleines Haus gesehen ."),
    ("he reads .", "er liest ."),
)
SIZES = Architecture(layers=2, d_model=16, d_ff=40, heads=3, d_k=5, d_v=6)
TRAINING = Training(steps=200, warmup=40)  # 200 steps are enough to learn the pairs
SEARCH = Search(beam=3, batch_size=2)
TRACED_UPDATES = 2  # this many first updates of the training are traced
SELF = ("self", "cls")
SHOWN = 4  # how many of a tensor's numbers or a list's entries are shown
LARGEST_GRID = 12  # a boolean matrix of up to this many rows and columns is shown whole
Lines = tuple[int, int]  # first and last line of a statement, or of a compound statement's head


@final
@dataclasses.dataclass(frozen=True)
class Values:
    """A statement's values by name or expression, as text, in call `call` of its function."""

    call: int
    named: Mapping[str, str]


@final
class Tracer:
    """A `sys.settrace` function that stores the values each statement gives on its first run."""

    def __init__(self, chapters: Mapping[str, Chapter]) -> None:
        self.files = {str(PACKAGE / "paper" / f"{name}.py"): name for name in chapters}
        self.statements = {name: find_statements(one.tree) for name, one in chapters.items()}
        self.values: dict[str, dict[Lines, Values]] = {name: {} for name in chapters}
        self.calls = dict[CodeType, int]()

    def __call__(self, frame: FrameType, _event: str, _value: object) -> "CallTracer | None":
        """Record a call's arguments; return a tracer of its statements, None outside `paper/`."""
        code, chapter = frame.f_code, self.files.get(frame.f_code.co_filename)
        if chapter is None or code.co_name.startswith("<"):
            return None
        self.calls[code] = self.calls.get(code, 0) + 1
        call = CallTracer(self.statements[chapter], self.values[chapter], self.calls[code])
        call.lines, call.node = call.statements[code.co_firstlineno]
        if call.lines not in call.values:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            call.record(
                {one: describe_value(frame.f_locals[one]) for one in names if one not in SELF}
            )
        return call


@final
@dataclasses.dataclass
class CallTracer:
    """A `sys.settrace` function for one call; it records in `values` what each statement gives."""

    statements: Mapping[int, tuple[Lines, ast.stmt]]
    values: dict[Lines, Values]
    call: int
    lines: Lines = (0, 0)  # lines of the running statement `node`
    node: ast.stmt = dataclasses.field(default_factory=ast.Pass)

    def __call__(self, frame: FrameType, event: str, value: object) -> "CallTracer":
        """Record what a statement gave, once the next one begins or the call ends."""
        following = self.statements[frame.f_lineno] if event == "line" else (None, ast.Pass())
        if following[0] == self.lines:
            return self  # another line of the same statement
        if self.lines in self.values:
            pass  # it ran before
        elif isinstance(self.node, ast.If) and event == "line":
            is_true = following[1] in self.node.body
            self.record({ast.unparse(self.node.test): str(is_true)})
        elif isinstance(self.node, ast.Return) and event == "return":
            self.record({"→": describe_value(value)})
        elif not isinstance(self.node, ast.FunctionDef):
            self.record(dict(read_changed(self.node, frame)))
        if following[0]:
            self.lines, self.node = following
        return self

    def record(self, texts: Mapping[str, str]) -> None:
        """Store `texts`, the running statement's values by name or expression, if there are any."""
        if texts:
            self.values[self.lines] = Values(self.call, texts)


def find_statements(tree: ast.AST) -> dict[int, tuple[Lines, ast.stmt]]:
    """Return ((first, last line), innermost statement) for each line of code.

    For a compound statement such as "for", the lines are those of its header.
    """
    found = dict[int, tuple[Lines, ast.stmt]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(first_line(body[0]) - 1, node.lineno) if body else node.end_lineno or 0
            lines = (first_line(node), last)
            found |= dict.fromkeys(range(lines[0], last + 1), (lines, node))
    return found


def read_changed(node: ast.stmt, frame: FrameType) -> Iterator[tuple[str, str]]:
    """Yield (name, value as text) of the variables and attributes that a statement has changed."""
    for one in list_changed(node):
        text = ast.unparse(one)
        name, *attributes = text.split(".")
        if name in frame.f_locals:
            value = frame.f_locals[name]
            for attribute in attributes:
                value = getattr(value, attribute)
            yield text, describe_value(value)


def list_changed(node: ast.AST | None) -> Iterator[ast.Name | ast.Attribute]:
    """Yield the variables and attributes that a statement, or a part of it, assigns or changes.

    Methods and functions of torch with a name such as `add_` change their object or argument.
    """
    match node:
        case ast.Name() | ast.Attribute():
            yield node
        case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.Expr(value=inner):
            yield from list_changed(inner)
        case ast.Call(func=ast.Attribute(attr=name, value=owner), args=[*arguments]):
            if isinstance(owner, ast.Call) or name.endswith("_"):
                yield from list_changed(owner)
                yield from list_changed(arguments[0] if arguments else None)
        case ast.Assign(targets=targets) | ast.Tuple(elts=targets):
            for target in targets:
                yield from list_changed(target)
        case (
            ast.AugAssign(target=inner)
            | ast.AnnAssign(target=inner, value=ast.expr())
            | ast.For(target=inner)
        ):
            yield from list_changed(inner)


def describe_value(value: object, *, brief: bool = False) -> str:
    """Return a value as text, such as a tensor's shape and first numbers; shorter if `brief`."""
    name = getattr(value, "__name__", type(value).__name__)
    match value:
        case Tensor():
            return describe_tensor(value, brief=brief)
        case bool() | None | str():
            return repr(value)
        case int() | float():
            return format_number(value)
        case nn.Module():
            return f"{name}, {sum(one.numel() for one in value.parameters()):,} parameters"
        case [*entries] if not hasattr(value, "_fields"):
            rest = ["…"] if len(entries) > SHOWN else []
            shown = [describe_value(one, brief=True) for one in entries[:SHOWN]]
            return f"({', '.join([*shown, *rest])})"
    if brief or isinstance(value, type):
        return name
    fields = [f"{field} {describe_value(one, brief=True)}" for field, one in list_fields(value)]
    return f"{name}({', '.join(fields)})" if fields else name


def list_fields(value: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401
    """Yield (name, value) of a named tuple's fields, or of a dataclass's non-default fields."""
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    defaults = {one.name: one.default for one in fields}
    for name in getattr(value, "_fields", defaults):
        one = getattr(value, name)
        if isinstance(one, Tensor) or name not in defaults or one != defaults[name]:
            yield name, one


def describe_tensor(value: Tensor, *, brief: bool) -> str:
    """Return a tensor as text: its shape, type and first numbers, or its shape alone if `brief`.

    A scalar is only its number. A small boolean matrix is shown whole.
    """
    shape = f"[{' × '.join(map(str, value.shape))}]" if value.shape else ""
    kind = str(value.dtype).removeprefix("torch.")
    numbers = value.detach().flatten()[:SHOWN].tolist()
    if not shape:
        return format_number(numbers[0])
    if brief:
        return shape
    if kind == "bool" and value.dim() > 1 and max(value.shape[-2:]) <= LARGEST_GRID:
        rows = value.reshape(-1, *value.shape[-2:])[0].tolist()
        return "\n".join([f"{shape} {kind}", *(" ".join("□■"[one] for one in row) for row in rows)])
    rest = " …" if value.numel() > SHOWN else ""
    return f"{shape} {kind} {' '.join(map(format_number, numbers))}{rest}"


def format_number(value: float | int) -> str:
    """Return a number as text: floats with three significant digits, integers in full."""
    text = str(value)
    return (f"{value:.3g}" if set(text) & {".", "e"} else text).replace("-", "−")


def run_tiny_model(chapters: Mapping[str, Chapter]) -> tuple[Tracer, list[str]]:
    """Train the tiny model and translate under sys.settrace; return tracer and translations.

    Only the first `TRACED_UPDATES` updates of the training are traced.
    """
    words = ["</s>", "<s>", *dict.fromkeys(" ".join(f"{a} {b}" for a, b in PAIRS).split())]
    assert (words[END], words[BEGIN]) == ("</s>", "<s>")
    sides = [
        [[*map(words.index, one.split()), END] for one in side] for side in zip(*PAIRS, strict=True)
    ]
    micro_batches = [
        Batch(*(Packed.from_sentences(side[part]) for side in sides))
        for part in (slice(0, 2), slice(2, 3))
    ]
    tracer, previous = Tracer(chapters), sys.gettrace()

    def follow(update: Update) -> bool:
        if update.step == TRACED_UPDATES:
            sys.settrace(previous)
        return True

    mode, threads = torch.get_deterministic_debug_mode(), torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        try:
            use_threads(1)  # so that the last bits are equal on every machine
            torch.set_deterministic_debug_mode("error")  # also fills torch.empty with NaN
            sys.settrace(tracer)
            model = build_transformer(SIZES, len(words), len(words), TRAINING.seed)
            optimiser = Adam(model, TRAINING)
            train(model, optimiser, TRAINING, lambda _: micro_batches, after_update=follow)
            model.eval()
            sys.settrace(tracer)
            found = beam_search(StepwiseTransformer(model), sides[0], SEARCH)
        finally:
            sys.settrace(previous)
            torch.set_deterministic_debug_mode(mode)
            use_threads(threads)
    return tracer, [" ".join(words[n] for n in one[0].ids) for one in found]
