"""A plant finds its parts by symbol, and names those that it lacks."""

from __future__ import annotations

import pytest

from ferro_bench import Parameter, Plant, StateVariable

PLANT = Plant(
    states=(StateVariable("x", "position", "m", rate="v"), StateVariable("v", "velocity", "m/s")),
    parameters=(
        Parameter("c", "drag coefficient", "kg/m", start=0.2, bounds=(0.0, 3.0)),
        Parameter("m", "mass", "kg", start=1.0, bounds=(0.1, 10.0)),
    ),
    rates=lambda state, u, c, m: (state[1], (u - c * state[1]) / m),
)


def test_states_and_parameters_are_found_by_symbol() -> None:
    assert (PLANT.state_index("x"), PLANT.state_index("v")) == (0, 1)
    assert (PLANT.parameter("c"), PLANT.parameter("m")) == PLANT.parameters


def test_an_unknown_state_is_named_beside_those_there_are() -> None:
    with pytest.raises(ValueError, match="no state 'q'; it has x, v"):
        PLANT.state_index("q")


def test_an_unknown_parameter_is_named_beside_those_there_are() -> None:
    with pytest.raises(ValueError, match="no parameter 'k'; it has c, m"):
        PLANT.parameter("k")


def test_a_positive_parameter_whose_range_reaches_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"parameter m must stay positive, so the lowest value .* 0\.0 does not"):
        Parameter("m", "mass", "kg", start=1.0, bounds=(0.0, 10.0), positive=True)
