"""Random programs against an independent library: HIPS autograd has to find the same values and derivatives.

The sweeps in `test_ops` and `test_trace` look at one primitive at a time. Here hypothesis writes whole programs from
the same table, in which values are read more than once, meet constants and go through one primitive after another. They
are text: so the very same program runs on NumPy and on autograd's NumPy, and one that fails is printed as it is.

While a program is written, it is known between which bounds each of its values stays. What leaves the domain of a
primitive is scaled and shifted into it first, so that every program is defined everywhere and none of them grows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from types import CodeType, SimpleNamespace
from typing import Any

import autograd  # type: ignore[import-untyped]
import autograd.numpy  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ferro_bench import value_and_grad
from ferro_bench.gradient import compile_arrays, compile_floats, ops, recurrence, write_arrays, write_floats
from tests.unit.domains import DOMAINS, FIRST, INSIDE_ONE, NOT_ZERO, POSITIVE, SECOND

# What autograd has no rule for, or none where shapes differ, said in what it has. ------------------------------------

SAID_OTHERWISE: dict[str, Callable[..., Any]] = {
    "positive": lambda a: a,
    "cbrt": lambda a: autograd.numpy.sign(a) * autograd.numpy.abs(a) ** (1.0 / 3.0),
    "heaviside": lambda a, b: SAID_OTHERWISE["where"](a == 0.0, b, 0.5 + 0.5 * autograd.numpy.sign(a)),
    "broadcast_to": lambda a, shape: a + np.zeros(shape),
    "where": lambda condition, x, y: autograd.numpy.where(
        condition, *(a + np.zeros(np.broadcast_shapes(*map(np.shape, (condition, x, y)))) for a in (x, y))
    ),
}
AUTOGRAD = SimpleNamespace(**vars(autograd.numpy) | SAID_OTHERWISE)

# Where the primitives are defined, and where not smooth. -------------------------------------------------------------

Interval = tuple[float, float]

# Within the domains of `domains`. Those that keep off a kink are whole here: a kink is too narrow to be hit by chance.
INTERVALS: dict[st.SearchStrategy[float], list[Interval]] = {
    FIRST: [(-3.0, 3.0)],
    SECOND: [(-3.0, 3.0)],
    POSITIVE: [(0.2, 3.0)],
    NOT_ZERO: [(0.2, 3.0), (-3.0, -0.2)],
    INSIDE_ONE: [(-0.9, 0.9)],
    DOMAINS[np.tan][0]: [(-1.2, 1.2)],
    DOMAINS[np.log1p][0]: [(-0.8, 3.0)],
}

# What is zero at a kink, a step or a branch cut: an example that comes near one is not looked at.
KINKS: dict[Any, str] = {
    np.absolute: "{0}",
    np.sign: "{0}",
    np.heaviside: "{0}",
    np.floor: "{0} - np.rint({0})",
    np.ceil: "{0} - np.rint({0})",
    np.maximum: "{0} - {1}",
    np.minimum: "{0} - {1}",
    np.arctan2: "{0}",
    np.hypot: "np.hypot({0}, {1})",
}
CLEARANCE = 1e-3

# How they are written, and whose domain holds. A law is mostly arithmetic, hence more of it.
OPERATORS: list[tuple[str, Any]] = [
    ("{0} + {1}", np.add),
    ("{0} - {1}", np.subtract),
    ("{0} * {1}", np.multiply),
    ("{0} / {1}", np.divide),
    ("-{0}", np.negative),
    ("abs({0})", np.absolute),
    ("{0} ** {1}", np.power),
    ("{0} ** 2", np.square),
    ("{0} ** 3", np.square),
]
SPELLINGS = [(f"np.{f.__name__}({', '.join(['{0}', '{1}'][: f.nin])})", f) for f in ops.UFUNCS] + 2 * OPERATORS


def literal(number: float) -> str:
    """A constant as an operand."""
    return f"{number!r}" if number >= 0.0 else f"({number!r})"


# Zero, one and two are what the tracer simplifies. Otherwise they keep away from the variables, which are of `FIRST`.
CONSTANTS = st.sampled_from(["0.0", "1.0", "2.0", "(-1.0)", "0.5"]) | SECOND.map(literal)


# Programs ------------------------------------------------------------------------------------------------------------


@cache
def compiled(expression: str) -> CodeType:
    return compile(expression, "<program>", "eval")


class Program:
    """A straight-line program as text.

    Args:
        inputs: their names, and for each what is known of it: its value, or some numbers between its bounds.
        ranges: whether it is bounds that are known.

    Attributes:
        numbers: the same for everything that can be read.
        margins: expressions of which none may come near zero.
    """

    POINTS = 9  # of a range
    LARGEST = 30  # elements of an array

    def __init__(self, inputs: dict[str, Any], ranges: bool) -> None:
        self.inputs = list(inputs)
        self.numbers = dict(inputs)
        self.margins: list[str] = []
        self._ranges = ranges
        self._lines: list[str] = []
        self._read: set[str] = set()

    def __repr__(self) -> str:
        return "\n    ".join([f"({', '.join(self.inputs)}):", *self._lines])

    @property
    def unread(self) -> list[str]:
        """What no line reads."""
        return [name for name in self.numbers if name not in self._read]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; or numbers from its least to its greatest, on a grid of what it reads."""
        code = compiled(expression)
        names = [name for name in code.co_names if name in self.numbers]
        numbers: Sequence[Any] = [self.numbers[name] for name in names]
        if self._ranges:
            numbers = np.ix_(*numbers)
        value = eval(code, {"np": np} | dict(zip(names, numbers, strict=True)))
        return np.linspace(np.min(value), np.max(value), self.POINTS) if self._ranges else value

    def takes(self, expression: str) -> bool:
        """Whether the shapes in an expression go together, and give an array that is not too large."""
        try:
            return bool(0 < np.size(self.evaluate(expression)) <= self.LARGEST)
        except (IndexError, ValueError):
            return False

    def write(self, expression: str) -> str:
        """Write a line, and return the name of its result."""
        self.numbers[name := f"a{len(self._lines) + 1}"] = self.evaluate(expression)
        self._lines.append(f"{name} = {expression}")
        self._read.update(compiled(expression).co_names)
        return name

    def fitted(self, operand: str, intervals: Sequence[Interval]) -> str:
        """The operand itself where it stays in one of these intervals, else brought into the first of them."""
        numbers = self.evaluate(operand)
        low, high = float(np.min(numbers)), float(np.max(numbers))
        if any(least <= low and high <= most for least, most in intervals):
            return operand
        least, most = intervals[0]
        if operand not in self.numbers:
            return literal(min(max(low, least), most))
        scale = min(1.0, (most - least) / (high - low)) if high > low else 1.0
        return self.write(f"{scale:.4f} * {operand} + {literal(round((least + most - scale * (low + high)) / 2, 4))}")

    def function(self, numpy: Any, returned: Sequence[str]) -> Callable[..., list[Any]]:
        """The program on one kind of NumPy, with the values of these expressions as its results."""
        space = {"np": numpy}
        exec(f"def program{self!r}\n    return [{', '.join(returned)}]", space)
        made: Callable[..., list[Any]] = space["program"]
        return made


# A form writes a line, with a line before it where an operand has to be brought into a domain.
Form = Callable[[st.DrawFn, Program], object]


def one(draw: st.DrawFn, program: Program, expression: str = "{0}") -> str:
    """One of the names with which an expression is possible."""
    return draw(st.sampled_from([name for name in program.numbers if program.takes(expression.format(name))]))


def two(draw: st.DrawFn, program: Program, expression: str) -> Sequence[str]:
    """Two of the names with which an expression is possible."""
    pairs = itertools.product(program.numbers, repeat=2)
    return draw(st.sampled_from([pair for pair in pairs if program.takes(expression.format(*pair))]))


def beside(draw: st.DrawFn, program: Program, there: str, other_than: str = "") -> str:
    """A constant, or a name that can be broadcast against what is there."""
    names = [name for name in program.numbers if name != other_than and program.takes(f"{there} + {name}")]
    wanted = names and draw(st.sampled_from([True, True, True, False]))
    return draw(st.sampled_from(names) if wanted else CONSTANTS)


def elementwise(draw: st.DrawFn, program: Program) -> None:
    spelling, ufunc = draw(st.sampled_from(SPELLINGS))
    operands = [one(draw, program)]
    if ufunc.nin == 2:
        # The same operand twice would be right at the kink.
        other = beside(draw, program, operands[0], other_than=operands[0] if ufunc in KINKS else "")
        operands.insert(draw(st.integers(0, 1)), other)
    operands = [program.fitted(x, INTERVALS[domain]) for x, domain in zip(operands, DOMAINS[ufunc], strict=True)]
    if ufunc in KINKS:
        program.margins.append(KINKS[ufunc].format(*operands))
    program.write(spelling.format(*operands))


def where(draw: st.DrawFn, program: Program) -> None:
    left = one(draw, program)
    right = beside(draw, program, left, other_than=left)
    x = beside(draw, program, f"{left} + {right}")
    y = beside(draw, program, f"{left} + {right} + {x}")
    low = draw(SECOND.map(literal))
    comparison = f"{left} {draw(st.sampled_from(['<', '<=', '>', '>=']))} {right}"
    condition = draw(
        st.sampled_from(["{0}", "({0}) & ({1} > {2})", "({1} < {2}) | ({0})", "np.logical_not({0})"])
    ).format(comparison, left, low)
    program.margins += [f"{left} - {right}", f"{left} - {low}"]
    program.write(f"np.where({condition}, {x}, {y})")


def clip(draw: st.DrawFn, program: Program) -> None:
    a, low = one(draw, program), draw(SECOND)
    high = low + draw(POSITIVE)
    program.margins += [f"{a} - {literal(low)}", f"{a} - {literal(high)}"]
    program.write(f"np.clip({a}, {literal(low)}, {literal(high)})")


def is_smooth(margins: Sequence[Any]) -> bool:
    """Whether a run stayed clear of every kink."""
    return all(np.all(np.abs(margin) > CLEARANCE) for margin in margins)


def assert_agree(found: Any, wanted: Any, way: str, size: float = 0.0) -> None:
    """Equal up to rounding, of which an element has its share also where it happens to be small itself."""
    allowed = 1e-11 * max(1.0, size, float(np.max(np.abs(wanted))))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=allowed, err_msg=way)


# A failing program is cut down, but not varied in every part to see which of them matter: that takes a minute.
PHASES = [Phase.generate, Phase.shrink]


# Recurrences: numbers, as the compiled programs take them. -----------------------------------------------------------

STATES, INPUT, PARAMETERS = ["x", "v", "w"], "u", ["p", "q", "r"]
BOUND = 2.5  # of states, input and parameters
STEPS, BATCH = 4, 3
WEIGHTS = np.array([0.7, -1.1, 0.4, 0.9])


@dataclass(frozen=True)
class Loop:
    """A program that is repeated.

    Attributes:
        nexts: what takes the places of the states.
        observed: which state is the output.
        points: for each parameter as many values as there are rollouts side by side.
    """

    program: Program
    parameters: list[str]
    nexts: list[str]
    observed: int
    start: list[float]
    inputs: list[float]
    points: list[list[float]]

    def outputs(self, step: Callable[..., Sequence[Any]], parameters: Iterable[Any]) -> tuple[list[Any], list[Any]]:
        """The outputs, and whatever the step returns besides the next states."""
        state: Sequence[Any] = self.start
        outputs: list[Any] = []
        others: list[Any] = []
        for u in self.inputs:
            results = step(*state, u, *parameters)
            state = results[: len(state)]
            outputs.append(state[self.observed])
            others += results[len(state) :]
        return outputs, others


@st.composite
def loops(draw: st.DrawFn) -> Loop:
    states = STATES[: draw(st.integers(1, 3))]
    parameters = PARAMETERS[: draw(st.integers(1, 3))]
    bounds = np.linspace(-BOUND, BOUND, Program.POINTS)
    program = Program(dict.fromkeys([*states, INPUT, *parameters], bounds), ranges=True)
    for _ in range(draw(st.integers(3, 10))):
        draw(st.sampled_from([*[elementwise] * 8, where, clip]))(draw, program)
    # What no line has read goes into the next states, lest most of a program be for nothing; some are anything.
    unread = [name for name in program.unread if name not in program.inputs]
    nexts = []
    for i in range(len(states)):
        ends = unread[i :: len(states)]
        if not ends or draw(st.sampled_from([False, False, False, True])):
            ends = [one(draw, program)]
        total = reduce(lambda left, right: program.write(f"{left} + {right}"), ends)
        nexts.append(program.fitted(total, [(-BOUND, BOUND)]))
    many = st.lists(FIRST, min_size=BATCH, max_size=BATCH) | FIRST.map(lambda x: [x] * BATCH)
    return Loop(
        program,
        parameters,
        nexts,
        draw(st.integers(0, len(states) - 1)),
        [draw(FIRST) for _ in states],
        [draw(FIRST) for _ in range(STEPS)],
        [draw(many) for _ in parameters],
    )


def assert_compiled_agree(functions: Any, loop: Loop, point: Sequence[Any], values: Any, jacobian: Any) -> None:
    """What compiled programs find at a point, be it one or many: outputs, adjoint and tangents."""
    outputs, kept = functions["forward"](loop.start, loop.inputs, point)
    assert_agree(np.broadcast_to(outputs, values.shape), values, "outputs")
    weights = np.broadcast_to(WEIGHTS if values.ndim == 1 else WEIGHTS[:, None], np.shape(outputs))
    shares = functions["adjoint"](loop.inputs, point, kept, weights if values.ndim > 1 else weights.tolist())
    gradient = np.tensordot(WEIGHTS, jacobian, 1)
    assert_agree(np.array([np.broadcast_to(share, values.shape[1:]) for share in shares]), gradient, "adjoint")
    outputs, columns = functions["tangents"](loop.start, loop.inputs, point)
    assert_agree(np.broadcast_to(outputs, values.shape), values, "outputs along the tangents")
    columns = [np.broadcast_to(column, values.shape) for column in columns]
    assert_agree(np.stack(columns, axis=1), jacobian, "tangents")


@pytest.mark.filterwarnings("ignore:Output seems independent of input")  # autograd, where the derivative is zero
@settings(max_examples=200, phases=PHASES)
@given(loop=loops())
def test_a_random_recurrence_agrees_with_autograd_on_the_tape_and_compiled(loop: Loop) -> None:
    points = np.array(loop.points)
    plain = loop.program.function(np, [*loop.nexts, *loop.program.margins])
    outputs, margins = loop.outputs(plain, points)
    assume(is_smooth(margins))
    values = np.array([np.broadcast_to(output, BATCH) for output in outputs])
    theirs = loop.program.function(AUTOGRAD, loop.nexts)

    def sums(points: Any) -> Any:
        """The rollouts have nothing to do with each other: the derivative of their sum has those of all."""
        rows, _ = loop.outputs(theirs, [points[i] for i in range(len(points))])
        return AUTOGRAD.stack([AUTOGRAD.sum(row + np.zeros(BATCH)) for row in rows])

    jacobian = autograd.jacobian(sums)(points)  # of shape (steps, parameters, batch)
    step = loop.program.function(np, loop.nexts)

    def loss(*parameters: Any) -> Any:
        rows, _ = loop.outputs(step, parameters)
        return np.sum(sum(weight * row for weight, row in zip(WEIGHTS.tolist(), rows, strict=True)))

    written = recurrence(step, STATES[: len(loop.start)], INPUT, loop.parameters, loop.observed)
    floats = [compile_floats(write_floats(written, fused)) for fused in (False, True)]
    for b, point in enumerate(zip(*loop.points, strict=True)):
        value, gradient = value_and_grad(loss, *point)
        assert_agree(value, WEIGHTS @ values[:, b], "value on the tape")
        assert_agree(gradient, WEIGHTS @ jacobian[:, :, b], "gradient on the tape")
        for functions in floats:
            assert_compiled_agree(functions, loop, point, values[:, b], jacobian[:, :, b])
    _, gradient = value_and_grad(loss, *points)
    assert_agree(gradient, np.tensordot(WEIGHTS, jacobian, 1), "gradient on the tape, of arrays")
    # A parameter that all rollouts share may be a float.
    shared = [p[0] if len(set(p)) == 1 else np.array(p) for p in loop.points]
    assert_compiled_agree(compile_arrays(write_arrays(written)), loop, shared, values, jacobian)


# Arrays: with the linear primitives, on the tape. --------------------------------------------------------------------


def axis_of(draw: st.DrawFn, program: Program, name: str, more: int = 0) -> int:
    """An axis of an array, or of one that has some more of them, counted from either end."""
    dimensions = np.ndim(program.numbers[name]) + more
    return draw(st.integers(-dimensions, dimensions - 1))


def reduction(draw: st.DrawFn, program: Program, spelling: str) -> None:
    a = one(draw, program)
    dimensions = np.ndim(program.numbers[a])
    axis = draw(st.none() | hnp.valid_tuple_axes(dimensions) if dimensions else st.none())
    program.write(spelling.format(a, axis, draw(st.booleans())))


def cumsum(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program, "{0}[0]")
    program.write(f"np.cumsum({a}, axis={draw(st.none()) if draw(st.booleans()) else axis_of(draw, program, a)})")


def stack(draw: st.DrawFn, program: Program) -> None:
    a, b = two(draw, program, "np.stack([{0}, {1}])")
    program.write(f"np.stack([{a}, {b}], axis={axis_of(draw, program, a, more=1)})")


def concatenate(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program, "np.concatenate([{0}, {0}])")
    axis = axis_of(draw, program, a)
    b = one(draw, program, f"np.concatenate([{a}, {{0}}], axis={axis})")
    program.write(f"np.concatenate([{', '.join(draw(st.permutations([a, b])))}], axis={axis})")


def reshape(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program)
    shape = draw(st.permutations(np.shape(program.numbers[a])) | st.sampled_from([(-1,), (1, -1), (-1, 1)]))
    program.write(f"np.reshape({a}, {tuple(shape)})")


def transpose(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program)
    dimensions = np.ndim(program.numbers[a])
    axes = draw(st.none() | st.permutations(range(dimensions)) | st.permutations(range(-dimensions, 0)))
    program.write(f"np.transpose({a}, {axes and tuple(axes)})")


def expand_dims(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program)
    program.write(f"np.expand_dims({a}, {axis_of(draw, program, a, more=1)})")


def broadcast_to(draw: st.DrawFn, program: Program) -> None:
    a, b = two(draw, program, "{0} + {1}")
    shape = np.broadcast_shapes(np.shape(program.numbers[a]), np.shape(program.numbers[b]))
    program.write(f"np.broadcast_to({a}, {shape})")


def product(draw: st.DrawFn, program: Program, possible: str, *spellings: str) -> None:
    operands = [program.fitted(x, INTERVALS[FIRST]) for x in two(draw, program, possible)]
    program.write(draw(st.sampled_from(spellings)).format(*operands))


def matmul(draw: st.DrawFn, program: Program) -> None:
    product(draw, program, "np.matmul({0}, {1})", "np.matmul({0}, {1})", "{0} @ {1}")


def dot(draw: st.DrawFn, program: Program) -> None:
    # With more axes on the right it is refused.
    product(draw, program, "np.dot({0}, {1}) if np.ndim({1}) < 3 else ()", "np.dot({0}, {1})")


def item(draw: st.DrawFn, program: Program) -> None:
    a = one(draw, program, "{0}[0]")
    shape = np.shape(program.numbers[a])
    keys = hnp.basic_indices(shape, allow_newaxis=True).map(repr)
    arrays = hnp.integer_array_indices(shape).map(lambda indices: repr(tuple(i.tolist() for i in indices)))
    # As an array, because autograd takes a list for one of integers.
    masks = st.lists(st.booleans(), min_size=shape[0], max_size=shape[0]).map("np.array({})".format)
    key = draw((keys | arrays | masks).filter(lambda key: program.takes(f"{a}[{key}]")))
    program.write(f"{a}[{key}]")


def diff(draw: st.DrawFn, program: Program) -> None:
    program.write(f"np.diff({one(draw, program, 'np.diff({0})')})")


def ravel(draw: st.DrawFn, program: Program) -> None:
    program.write(f"np.ravel({one(draw, program)})")


def constant(draw: st.DrawFn, program: Program) -> None:
    values = hnp.arrays(np.float64, st.sampled_from([(3,), (2, 1), (2, 3)]), elements=FIRST)
    program.write(f"np.array({draw(values).tolist()})")


FORMS: dict[Any, Form] = {
    np.sum: lambda draw, program: reduction(draw, program, "np.sum({0}, axis={1}, keepdims={2})"),
    np.mean: lambda draw, program: reduction(draw, program, "np.mean({0}, axis={1}, keepdims={2})"),
    np.cumsum: cumsum,
    np.where: where,
    np.stack: stack,
    np.concatenate: concatenate,
    np.reshape: reshape,
    np.transpose: transpose,
    np.expand_dims: expand_dims,
    np.broadcast_to: broadcast_to,
    np.matmul: matmul,
    "getitem": item,
    np.dot: dot,
    np.clip: clip,
    np.diff: diff,
    np.ravel: ravel,
}


def test_every_primitive_that_is_not_elementwise_has_a_form() -> None:
    assert set(FORMS) == {np.matmul, "getitem", *ops.FUNCTIONS, *ops.COMPOSITIONS}


@dataclass(frozen=True)
class Formula:
    """A program on arrays, whose results are summed with weights, and where to differentiate it."""

    program: Program
    at: list[Any]

    def function(self, numpy: Any) -> Callable[..., Any]:
        """The weighted sum of every element of all that no line has read."""
        shares = []
        for name in self.program.unread:
            shape = np.shape(self.program.numbers[name])
            weights = np.linspace(0.5, 1.5, max(1, math.prod(shape))).reshape(shape)
            shares.append(f"np.sum({name} * np.array({weights.tolist()}))")
        summed = self.program.function(numpy, [" + ".join(shares)])
        return lambda *arrays: summed(*arrays)[0]


@st.composite
def formulas(draw: st.DrawFn) -> Formula:
    # The first two can be multiplied as matrices; the third makes for broadcasting.
    shapes = [(2, 3), (3,), draw(st.sampled_from([(), (1,), (3, 2), (2, 1), (3, 1), (2, 2, 3)]))]
    at = [draw(hnp.arrays(np.float64, shape, elements=FIRST)) for shape in shapes]
    program = Program(dict(zip("xyz", at, strict=True)), ranges=False)
    for _ in range(draw(st.integers(3, 10))):
        kind = draw(st.sampled_from([*[elementwise] * 16, *FORMS.values(), constant]))
        kind(draw, program)
    return Formula(program, at)


@settings(max_examples=300, phases=PHASES)
@given(formula=formulas())
def test_a_random_program_on_arrays_agrees_with_autograd(formula: Formula) -> None:
    margins = formula.program.function(np, formula.program.margins)
    assume(is_smooth(margins(*formula.at)))
    by_all = tuple(range(len(formula.at)))
    wanted, theirs = autograd.value_and_grad(formula.function(AUTOGRAD), by_all)(*formula.at)
    value, ours = value_and_grad(formula.function(np), *formula.at)
    assert_agree(value, wanted, "value")
    size = max(float(np.max(np.abs(gradient))) for gradient in theirs)
    for name, found, gradient in zip(formula.program.inputs, ours, theirs, strict=True):
        assert np.shape(found) == np.shape(gradient)
        assert_agree(found, gradient, f"by {name}", size)
