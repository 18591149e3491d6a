"""The physics: which states there are, which parameters, and how the states change.

`Plant.rates` is ordinary NumPy arithmetic and is written once. It runs on floats to simulate, on arrays to run a batch
of rollouts at once, and on tape variables to be differentiated; it must therefore use operators and ``np`` functions
only, and ``np.where`` in place of ``if``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

State = tuple[Any, ...]  # one float, (batch,) array or tape variable a state
Parameters = Mapping[str, Any]  # symbol -> float, (batch,) array or tape variable


@dataclass(frozen=True)
class StateVariable:
    """One component of the state.

    Attributes:
        symbol: its letter in the equations.
        name: what it is called in a sentence.
        unit: SI unit as text.
        rate: the symbol of the state that is this one's own rate of change (velocity for a position), where there is
            one; the semi-implicit solver steps such a state with the new value of its rate.
    """

    symbol: str
    name: str
    unit: str
    rate: str | None = None


@dataclass(frozen=True)
class Parameter:
    """One constant of the plant.

    Attributes:
        symbol: its letter in the equations, and its name as an argument of `Plant.rates`.
        name: what it is called in a sentence.
        unit: SI unit as text.
        start: where an identification begins.
        bounds: the lowest and the highest value that makes sense to begin from.
        positive: whether it must stay above zero whatever a search does. It is then sought by its logarithm, which
            turns that limit into one at infinity and every step into a factor.
    """

    symbol: str
    name: str
    unit: str
    start: float
    bounds: tuple[float, float]
    positive: bool = False

    def __post_init__(self) -> None:
        if self.positive and not self.bounds[0] > 0:
            raise ValueError(
                f"the parameter {self.symbol} must stay positive, so the lowest value that makes sense must lie above "
                f"zero, and {self.bounds[0]} does not"
            )


@dataclass(frozen=True)
class Plant:
    """States, parameters and the law that ties them.

    Attributes:
        states: the components of the state, in the order of the state tuple.
        parameters: every constant that `rates` takes.
        rates: ``rates(state, input, **parameters)`` returns the time derivative of each state, in the same order.
    """

    states: tuple[StateVariable, ...]
    parameters: tuple[Parameter, ...]
    rates: Callable[..., State]

    def state_index(self, symbol: str) -> int:
        """Where a state stands in the state tuple.

        Raises:
            ValueError: if the plant has no such state.
        """
        symbols = [state.symbol for state in self.states]
        if symbol not in symbols:
            raise ValueError(f"the plant has no state {symbol!r}; it has {', '.join(symbols)}")
        return symbols.index(symbol)

    def parameter(self, symbol: str) -> Parameter:
        """The parameter of that symbol.

        Raises:
            ValueError: if the plant has no such parameter.
        """
        for parameter in self.parameters:
            if parameter.symbol == symbol:
                return parameter
        raise ValueError(
            f"the plant has no parameter {symbol!r}; it has {', '.join(p.symbol for p in self.parameters)}"
        )
