"""Identify a physical model by differentiating its rollout.

The package is the pipeline, one module a stage:

    dataset     what was applied, what was measured, on which clock
    plant       the physics: states, parameters, rates of change
    solvers     one step through time
    rollout     many steps: the predicted trajectory
    compiled    the same, as straight-line programs, with its gradient and Jacobian
    loss        how far it is from the measured one
    gradient    how the loss changes with each parameter
    optimizer   from a gradient to a step
    problem     what is sought, and what is seen from given values of it
    identify    the training loop, with a named ending
    uncertainty how sure the result is, and what the data leave open
    verdict     the checks that say whether the result is right
    bench       one problem, bound together from these
    cell        runs code that a reader wrote, and says what came of it
    exercise    one function for a reader to write, and how it is graded
    own         a bench trained with a reader's functions
    session     the seam to a page: JSON text in, JSON text out
"""

from .bench import Bench
from .benches import load, names
from .control import SettingsError
from .dataset import Channel, Dataset, Drive, Record
from .gradient import Tape, Var, check_gradient, value_and_grad
from .identify import Ending, Identified, Step, identify, identify_from, spread
from .loss import mean_squared_error
from .optimizer import LBFGS, Adam, GradientDescent, LevenbergMarquardt, Momentum, View
from .plant import Parameter, Plant, StateVariable
from .problem import Problem
from .rollout import rollout
from .session import Session
from .solvers import explicit_euler, rk4, semi_implicit_euler
from .uncertainty import Uncertainty, estimate
from .verdict import Check, Verdict

__all__ = [
    "LBFGS",
    "Adam",
    "Bench",
    "Channel",
    "Check",
    "Dataset",
    "Drive",
    "Ending",
    "GradientDescent",
    "Identified",
    "LevenbergMarquardt",
    "Momentum",
    "Parameter",
    "Plant",
    "Problem",
    "Record",
    "Session",
    "SettingsError",
    "StateVariable",
    "Step",
    "Tape",
    "Uncertainty",
    "Var",
    "Verdict",
    "View",
    "check_gradient",
    "estimate",
    "explicit_euler",
    "identify",
    "identify_from",
    "load",
    "mean_squared_error",
    "names",
    "rk4",
    "rollout",
    "semi_implicit_euler",
    "spread",
    "value_and_grad",
]
