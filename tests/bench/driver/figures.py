"""Figures with their bars, and the table of them."""

import dataclasses
import math
import statistics


@dataclasses.dataclass(frozen=True)
class Figure:
    """`value` is None where something that it needs is absent; `detail` says from what it came."""

    name: str
    value: float | None
    must: float
    goal: float
    unit: str = "x"
    detail: str = ""

    @property
    def less_is_better(self):
        return self.goal <= self.must

    def reaches(self, bar):
        return self.value <= bar if self.less_is_better else self.value >= bar

    @property
    def verdict(self):
        if self.value is None:
            return "absent"
        if self.reaches(self.goal):
            return "goal"
        return "must" if self.reaches(self.must) else "BELOW"

    def record(self):
        return dataclasses.asdict(self) | {"verdict": self.verdict}


def ratio(over, under):
    """over / under, None if one of them is."""
    return over / under if over is not None and under else None


def median(series):
    """None of none."""
    return statistics.median(series) if series else None


def paired(function, *series):
    """The median of `function` over samples taken one after another, so that what the machine does
    meanwhile falls on all of them; None if a series is absent."""
    if not all(series):
        return None
    return statistics.median(function(*samples) for samples in zip(*series))


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def show(value, unit):
    if value is None:
        return "-"
    if unit == "%":
        return f"{value * 100:.1f} %"
    if unit == "x":
        return f"{value:.2f} x"
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def versus(over, under, unit):
    """The two numbers of a ratio, for its `detail`."""
    return f"{show(over, unit)} by {show(under, unit)}"


def table(figures):
    """Lines of a Markdown table."""
    rows = [("figure", "measured", "must", "goal", "reaches", "from")]
    rows += [
        (f.name, *(show(x, f.unit) for x in (f.value, f.must, f.goal)), f.verdict, f.detail)
        for f in figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]]
