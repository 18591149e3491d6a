"""Where each elementwise primitive is defined and smooth: the values that its operands are drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

# Domains. FIRST and SECOND stay 0.1 away from the integers, where kinks and steps are, and 0.2 from each other, for
# primitives that have a kink where their operands are equal.
FIRST = st.builds(lambda whole, part: whole + part, st.integers(-2, 2), st.floats(0.1, 0.4))
SECOND = st.builds(lambda whole, part: whole + part, st.integers(-2, 2), st.floats(0.6, 0.9))
POSITIVE = st.floats(0.2, 3.0)
INSIDE_ONE = st.floats(-0.9, 0.9)
NOT_ZERO = POSITIVE | POSITIVE.map(lambda x: -x)

DOMAINS: dict[Any, tuple[st.SearchStrategy[float], ...]] = {
    np.add: (
        FIRST,
        SECOND,
    ),
    np.subtract: (
        FIRST,
        SECOND,
    ),
    np.multiply: (
        FIRST,
        SECOND,
    ),
    np.divide: (
        FIRST,
        NOT_ZERO,
    ),
    np.power: (
        POSITIVE,
        SECOND,
    ),
    np.negative: (FIRST,),
    np.positive: (FIRST,),
    np.absolute: (FIRST,),
    np.square: (FIRST,),
    np.sqrt: (POSITIVE,),
    np.cbrt: (NOT_ZERO,),
    np.reciprocal: (NOT_ZERO,),
    np.exp: (FIRST,),
    np.exp2: (FIRST,),
    np.expm1: (FIRST,),
    np.log: (POSITIVE,),
    np.log2: (POSITIVE,),
    np.log10: (POSITIVE,),
    np.log1p: (st.floats(-0.8, 3.0),),
    np.sin: (FIRST,),
    np.cos: (FIRST,),
    np.tan: (st.floats(-1.2, 1.2),),
    np.arcsin: (INSIDE_ONE,),
    np.arccos: (INSIDE_ONE,),
    np.arctan: (FIRST,),
    np.arctan2: (
        FIRST,
        SECOND,
    ),
    np.sinh: (FIRST,),
    np.cosh: (FIRST,),
    np.tanh: (FIRST,),
    np.arcsinh: (FIRST,),
    np.arctanh: (INSIDE_ONE,),
    np.hypot: (
        FIRST,
        SECOND,
    ),
    np.logaddexp: (
        FIRST,
        SECOND,
    ),
    np.maximum: (
        FIRST,
        SECOND,
    ),
    np.minimum: (
        FIRST,
        SECOND,
    ),
    np.sign: (FIRST,),
    np.floor: (FIRST,),
    np.ceil: (FIRST,),
    np.heaviside: (
        FIRST,
        POSITIVE,
    ),
}
