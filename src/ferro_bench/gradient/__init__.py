"""The gradient engine: it differentiates ordinary NumPy and knows nothing else of ours.

`ops` is the table of primitives and their rules, `tape` records a run and walks it back, `check` compares the result
with finite differences.
"""

from .check import GradientCheck, central_difference, check_gradient
from .tape import Tape, Var, value_and_grad

__all__ = ["GradientCheck", "Tape", "Var", "central_difference", "check_gradient", "value_and_grad"]
