"""Times one gradient of the reference problem, whole identifications, and the compiling of a step.

    python -m benchmarks.gradients

Every way must give the same result before it is timed. Nothing here judges a time: machines differ, and ratios are what
to read.
"""

import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ferro_bench.benches.friction import DT, PLANT
from ferro_bench.compiled import compile_rollout
from ferro_bench.identify import Ending, identify
from ferro_bench.optimizer import LevenbergMarquardt
from ferro_bench.plant import Plant
from ferro_bench.problem import Problem
from ferro_bench.solvers import Solver, rk4, semi_implicit_euler

from . import by_hand, others, reference
from .reference import AT
from .timing import ROUNDS, Timing, print_table, race

STEPS = (120, 1_200, 12_000, 120_000)
SLOW = 1_200  # steps, the most for autograd and PyTorch
LONG = 12_000  # steps, beyond which fewer rounds have to do
BATCHES = (64, 1_024, 16_384)
COMPILED = "**compiled**"
CELL = "ms: median (best), × compiled"


def main() -> None:
    """Print everything."""
    print(machine(), flush=True)
    print(f"\nOne gradient of one rollout [{CELL}]. JAX: after compiling.\n")
    print_table("", {f"{steps:,} steps": afresh(one_rollout, steps) for steps in STEPS})
    print(f"Gradients of a batch of rollouts of 120 steps [{CELL}]. JAX: after compiling.\n")
    print_table("", {f"batch of {batch:,}": afresh(many_rollouts, batch) for batch in BATCHES})
    print("A whole identification, compiling included [ms: median (best), × this package].\n")
    print_table(
        "",
        {
            "c from 120 samples": afresh(whole_fit, partial(reference.problem, 120), by_hand.positions),
            "m, k, b, c from 25,000 samples": afresh(
                whole_fit, reference.oscillator_problem, by_hand.oscillator_positions
            ),
        },
    )
    print("Compiling a step: floats and arrays, rollout, adjoint and tangents [ms: median (best), × the first].\n")
    print_table("", {"time": afresh(compiling)})


def afresh(measure: Callable[..., dict[str, Timing]], *arguments: Any) -> dict[str, Timing]:
    """Measure in a process of its own: memory that a long tape has been through makes all that follows slower."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


def machine() -> str:
    """On what this runs."""
    names = ["numpy", "autograd", "jax", "scipy"] + ["torch"] * others.HAS_TORCH
    threads = [f"{name}={os.environ.get(name, 'unset')}" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")]
    return "\n".join(
        [
            f"{processor()}, {os.cpu_count()} logical cores, {platform.system()} {platform.machine()}",
            f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names),
            ", ".join(threads),
        ]
    )


def processor() -> str:
    """Its name, where the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def one_rollout(steps: int) -> dict[str, Timing]:
    """The gradient of one rollout, every way."""
    data, program = reference.record(steps), reference.compiled()
    forces, measured = data.drive.input.values.tolist(), data.measured.values.tolist()
    jax_gradient = others.jax_gradient(forces, measured)
    ways: dict[str, Callable[[], Any]] = {
        COMPILED: lambda: program.gradient(data.drive, [AT], data.measured.values)[2][0] * steps,
        "by hand in Python": lambda: by_hand.gradient(AT, forces, measured)[1],
        "tape": lambda: reference.tape_gradient(data),
        "JAX, jitted scan": lambda: jax_gradient(AT),
    }
    if steps <= SLOW:
        ways["autograd"] = lambda: others.autograd_gradient(AT, forces, measured)
    if steps <= SLOW and others.HAS_TORCH:
        ways["PyTorch"] = lambda: others.torch_gradient(AT, forces, measured)
    check_all_agree(ways)
    if steps == 120:
        np.testing.assert_allclose(ways[COMPILED](), reference.GRADIENT, rtol=1e-9)
    return race(ways, ROUNDS if steps <= LONG else 3)


def many_rollouts(batch: int) -> dict[str, Timing]:
    """The gradients of a batch, every way."""
    data, program = reference.record(120), reference.compiled()
    forces, measured = data.drive.input.values.tolist(), data.measured.values.tolist()
    c = np.linspace(0.1, 2.0, batch)
    jax_gradients = others.jax_gradient(forces, measured, batched=True)
    ways: dict[str, Callable[[], Any]] = {
        COMPILED: lambda: program.batch_gradient(data.drive, [c], data.measured.values)[2][0] * 120,
        "by hand in NumPy": lambda: by_hand.gradients(c, forces, measured)[1],
        "JAX, vmapped and jitted": lambda: jax_gradients(c),
    }
    check_all_agree(ways)
    return race(ways)


def whole_fit(pose: Callable[[], Problem], positions: Callable[..., list[float]]) -> dict[str, Timing]:
    """A search to convergence, by this package, and by SciPy on the same residual, by hand and from the plant."""
    posed = pose()
    forces, measured = posed.record.drive.input.values.tolist(), posed.record.measured.values

    def ours() -> list[float]:
        plant = reference.unseen(posed.plant)
        problem = Problem(plant, posed.solver, posed.record, posed.known, posed.start)
        search = identify(problem, LevenbergMarquardt(), budget=100)
        while True:
            try:
                next(search)
            except StopIteration as end:
                assert end.value.ending == Ending.CONVERGED, end.value.sentence
                return list(end.value.step.parameters.values())

    def scipys(predict: Callable[[list[float]], Any]) -> Any:
        start = list(posed.start.values())
        found = least_squares(lambda values: predict(values.tolist()) - measured, start, jac="2-point")
        assert found.success, found.message
        return found.x

    ways: dict[str, Callable[[], Any]] = {
        "**Levenberg–Marquardt, compiled**": ours,
        "SciPy least_squares, 2-point, rollout by hand": lambda: scipys(
            lambda values: np.array(positions(values, forces))
        ),
        "SciPy least_squares, 2-point, rollout of the plant": lambda: scipys(
            lambda values: posed.predict(dict(zip(posed.start, values, strict=True)))
        ),
    }
    check_all_agree(ways, rtol=1e-4)
    return race(ways, rounds=5)


def compiling() -> dict[str, Timing]:
    """From a plant's law to functions."""

    def by_all(plant: Plant, solver: Solver) -> None:
        compile_rollout(
            reference.unseen(plant), solver, DT, "x", {}, [parameter.symbol for parameter in plant.parameters]
        )

    return race(
        {
            "semi-implicit Euler, 1 parameter": reference.compiled,
            "semi-implicit Euler, 4 parameters": lambda: by_all(reference.OSCILLATOR, semi_implicit_euler),
            "RK4, 2 parameters": lambda: by_all(PLANT, rk4),
        }
    )


def check_all_agree(ways: dict[str, Callable[[], Any]], rtol: float = 1e-7) -> None:
    """Every way gives what the first gives; this also warms them."""
    expected, *others = [way() for way in ways.values()]
    for name, other in zip(list(ways)[1:], others, strict=True):
        np.testing.assert_allclose(other, expected, rtol=rtol, err_msg=name)


if __name__ == "__main__":
    main()
