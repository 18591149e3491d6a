"""The same gradient by other libraries, each written as its own documentation would have it."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import autograd
import autograd.numpy as anp
import jax
import jax.numpy as jnp
import numpy as np

from ferro_bench.benches.friction import DT

from .reference import MASS

jax.config.update("jax_enable_x64", True)
HAS_TORCH = find_spec("torch") is not None


def autograd_gradient(c: float, forces: Sequence[float], measured: Sequence[float]) -> float:
    """HIPS autograd: a Python loop on its boxes."""

    def loss(c: Any) -> Any:
        x = v = total = 0.0
        for u, target in zip(forces, measured, strict=True):
            v = v + DT * (u - c * v * anp.abs(v)) / MASS
            x = x + DT * v
            total = total + (x - target) ** 2
        return total

    return float(autograd.grad(loss)(c))


def torch_gradient(c: float, forces: Sequence[float], measured: Sequence[float]) -> float:
    """PyTorch: a Python loop on tensors without axes."""
    import torch

    drag = torch.tensor(c, dtype=torch.float64, requires_grad=True)
    x = v = total = torch.zeros((), dtype=torch.float64)
    for u, target in zip(forces, measured, strict=True):
        v = v + DT * (u - drag * v * v.abs()) / MASS
        x = x + DT * v
        total = total + (x - target) ** 2
    total.backward()
    return float(drag.grad)


def jax_gradient(forces: Sequence[float], measured: Sequence[float], batched: bool = False) -> Callable[[Any], Any]:
    """JAX in float64: loss and gradient of a scan, jitted, by c or by each of a batch of c; its data is on the device.

    The first call compiles.
    """
    data = jnp.array(forces), jnp.array(measured)

    def loss(c: Any, forces: Any, measured: Any) -> Any:
        def step(state: Any, here: Any) -> Any:
            (x, v), (u, target) = state, here
            v = v + DT * (u - c * v * jnp.abs(v)) / MASS
            x = x + DT * v
            return (x, v), (x - target) ** 2

        return jnp.sum(jax.lax.scan(step, (0.0, 0.0), (forces, measured))[1])

    one = jax.value_and_grad(loss)
    run = jax.jit(jax.vmap(one, in_axes=(0, None, None)) if batched else one)
    return lambda c: np.asarray(jax.block_until_ready(run(c, *data))[1])
