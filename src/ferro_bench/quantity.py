"""Numbers with their units, as a person would write them."""

from __future__ import annotations

import math

_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TAKES_MILLI = {"m", "rad", "s"}


def quantity(value: float, unit: str = "", digits: int = 4) -> str:
    """A number with its unit as a person would write it: ``0.8500 kg/m``, ``1.258 mm``, ``3.112×10⁻⁹ m²``.

    Args:
        value: the number, in the unit.
        unit: SI unit as text.
        digits: how many significant digits to give.
    """
    if not math.isfinite(value):
        return "beyond every number" if math.isinf(value) else "not a number"
    if unit in _TAKES_MILLI and 1e-6 <= abs(value) < 0.1:
        value, unit = value * 1000, f"m{unit}"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")  # rounded first: 9.9996 has its first digit among the tens
    exponent = int(power)
    if value == 0:
        text = "0"
    elif -3 <= exponent < 5:
        text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
    else:
        text = f"{mantissa}×10{str(exponent).translate(_SUPERSCRIPTS)}"
    return f"{text.replace('-', _MINUS)} {unit}".rstrip()
