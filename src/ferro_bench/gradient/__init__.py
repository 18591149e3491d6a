"""The gradient engine: it differentiates ordinary NumPy and knows nothing else of ours.

`ops` is the table of primitives and their rules. `tape` records a run and walks it back. `trace` runs a step once on
symbols, and from what it did come, as plain data, its adjoint and its tangents; `recurrence` is such a step repeated,
and each `emit_…` writes it as a program of one kind. `check` compares a gradient with finite differences.
"""

from .check import GradientCheck, central_difference, check_gradient
from .emit import is_free
from .emit_arrays import compile_arrays, write_arrays
from .emit_floats import compile_floats, write_floats, write_resumable
from .recurrence import Recurrence, recurrence
from .tape import Tape, Var, value_and_grad
from .trace import TraceError

__all__ = [
    "GradientCheck",
    "Recurrence",
    "Tape",
    "TraceError",
    "Var",
    "central_difference",
    "check_gradient",
    "compile_arrays",
    "compile_floats",
    "is_free",
    "recurrence",
    "value_and_grad",
    "write_arrays",
    "write_floats",
    "write_resumable",
]
