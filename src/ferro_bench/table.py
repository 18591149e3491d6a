"""A table out of a text, as spreadsheets and loggers write it, and where in it something stands.

Commas, semicolons or tabs between the cells; a decimal comma where commas do not separate; lines of names above the
numbers or none; comments behind ``#``; quotes; a byte order mark; any ends of lines. Cells stay text until a column of
numbers is asked for, so that a column that nobody uses may hold anything. A refusal names the cell as a spreadsheet
does: column by letter, row counted from 1 with comments and empty lines.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .dataset import Array

DELIMITERS = ("\t", ";", ",")  # of two that fit equally well the first: in 0,1;2,3 the commas are decimal
GLANCE = 50_000  # characters by which the delimiter and the decimal mark are told
PREVIEW = 6  # rows
_COMMENT = re.compile(r"(?m)^[ \t]*#([^\r\n]*)")
_DECIMAL_COMMA = re.compile(r'(?m)(?:^|[;\t"])[ ]*[-+]?\d*,\d+[eE\d+-]*[ ]*(?:$|[\r;\t"])')
_DECIMAL_POINT = re.compile(r'(?m)(?:^|[;\t"])[ ]*[-+]?\d*\.\d+[eE\d+-]*[ ]*(?:$|[\r;\t"])')


class TableError(ValueError):
    """A text that is no table of numbers; the message says where and why."""


@dataclass(frozen=True, eq=False)
class Table:
    """Cells of text.

    Attributes:
        names: what stands above each column, or nothing.
        lines: the cells below, row by row, at least as many in each as there are names.
        rows: the row of each of these in a spreadsheet, shape (rows,).
        decimal: the decimal mark, ``.`` or ``,``.
    """

    names: tuple[str, ...]
    lines: Sequence[Sequence[str]]
    rows: Sequence[int]
    decimal: str

    def cell(self, index: int, column: int) -> str:
        """What to call a cell: ``Cell C17 (“x in cm”)``."""
        return f"Cell {letters(column)}{self.rows[index]}{self._name(column)}"

    def column(self, column: int) -> str:
        """What to call a column: ``column C (“x in cm”)``."""
        return f"column {letters(column)}{self._name(column)}"

    def _name(self, column: int) -> str:
        return f" (“{_short(self.names[column])}”)" if self.names[column] else ""

    def numbers(self, column: int) -> Array:
        """A column as numbers, shape (rows,).

        Raises:
            TableError: at the first cell that is no finite number.
        """
        cells = [line[column] for line in self.lines]
        try:
            values = np.array(list(map(float, self._pointed(cells))))
        except ValueError:
            values = np.array([])
        # Python reads 1_000 as a number; nobody who writes a table does.
        if len(values) < len(cells) or not np.all(np.isfinite(values)) or "_" in "".join(cells):
            raise TableError(self._refusal(column, cells))
        return values

    def _pointed(self, cells: Sequence[str]) -> Sequence[str]:
        return cells if self.decimal == "." else [cell.replace(",", ".") for cell in cells]

    def _refusal(self, column: int, cells: Sequence[str]) -> str:
        index = next(i for i, cell in enumerate(self._pointed(cells)) if not _is_finite(cell))
        if not cells[index].strip():
            return f"{self.cell(index, column)} is empty; every row needs a number there."
        return f"{self.cell(index, column)} holds “{_short(cells[index])}”, which is no finite number."


def read(text: str) -> Table:
    """Read a table.

    Raises:
        TableError: if there are no numbers, fewer than two columns, or rows of unequal length; the message names the
            row.
    """
    if text.startswith("PK\x03\x04") or "\0" in text[:GLANCE]:
        raise TableError("This is no text. Save the sheet as CSV and choose that file.")
    text = text.removeprefix("\ufeff").replace("\N{MINUS SIGN}", "-")
    comments = _COMMENT.findall(text[:GLANCE])
    if "#" in text:
        text = _COMMENT.sub("", text)  # an empty line stays, and is counted
    delimiter = _delimiter(text[:GLANCE])
    glance = text[:GLANCE]
    point = delimiter == "," or not _DECIMAL_COMMA.search(glance) or _DECIMAL_POINT.search(glance)
    decimal = "." if point else ","
    every = _cells(text, delimiter)
    while every and not any(every[-1]):
        every.pop()
    first = next((row for row, cells in enumerate(every) if _has_number(cells, decimal)), None)
    if first is None:
        raise TableError("There are no rows of numbers in it.")
    rows = [row for row in range(first, len(every)) if every[row]]
    lines = [every[row] for row in rows]
    width = _width(lines, rows)
    if width < 2:
        raise TableError(
            "There is only one column in it. Cells are separated by commas, semicolons or tabs; at least time and "
            "position are needed."
        )
    heads = every[:first] + [_cells(comment, delimiter)[0] for comment in comments[-1:]]
    names = next((cells for cells in heads if len(_trimmed(cells)) > 1), [])[:width]
    return Table(
        names=tuple(name.strip() for name in [*names, *[""] * (width - len(names))]),
        lines=lines,
        rows=[row + 1 for row in rows],
        decimal=decimal,
    )


def _delimiter(glance: str) -> str:
    """The one by which most lines have the same number of cells, more than one."""
    lines = [line for line in glance.splitlines() if line.strip()]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last one may be cut off

    def share(delimiter: str) -> float:
        widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=delimiter))
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return count if width > 1 else 0

    try:
        return max(DELIMITERS, key=share)
    except csv.Error:
        return ","


def _cells(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    lines: list[list[str]] = []
    try:
        lines.extend(reader)
    except csv.Error:  # a cell of more than 131,072 characters, which is what an open quote makes
        raise TableError(
            f"Row {len(lines) + 1} cannot be read: is there a quotation mark that is never closed?"
        ) from None
    return lines or [[]]


def _width(lines: Sequence[Sequence[str]], rows: Sequence[int]) -> int:
    """How many cells every row has; further ones that are empty do not count."""
    widths = Counter(map(len, lines))
    if len(widths) == 1:
        return max(widths)
    width = Counter(len(_trimmed(cells)) for cells in lines).most_common(1)[0][0]
    for row, cells in zip(rows, lines, strict=True):
        if len(cells) < width or any(cells[width:]):
            raise TableError(f"Row {row + 1} has {len(cells)} cells, where most rows have {width}.")
    return width


def _trimmed(cells: Sequence[str]) -> Sequence[str]:
    end = len(cells)
    while end and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _has_number(cells: Sequence[str], decimal: str) -> bool:
    return any(_is_number(cell if decimal == "." else cell.replace(",", ".")) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _is_finite(cell: str) -> bool:
    return _is_number(cell) and bool(np.isfinite(float(cell)))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def letters(column: int) -> str:
    """A column as spreadsheets call it, counted from 0: A, B, …, Z, AA, …"""
    before, last = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + last)
