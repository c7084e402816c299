"""Figures with their bars, and the table of them."""

import dataclasses
import math
import statistics

from driver.lost import Lost

COMPARABLE = 7  # samples of a median


@dataclasses.dataclass(frozen=True)
class Figure:
    """`value` is None where something that it needs is absent; `detail` says from what it came;
    `lost` are the programs that it should have come from. Some have no bars."""

    name: str
    value: float | None
    must: float | None = None
    goal: float | None = None
    unit: str = "x"
    detail: str = ""
    lost: Lost = dataclasses.field(default_factory=Lost)

    @property
    def less_is_better(self):
        return self.goal <= self.must

    def reaches(self, bar):
        return self.value <= bar if self.less_is_better else self.value >= bar

    @property
    def verdict(self):
        if self.lost.failed:
            return "failed"
        if self.value is None:
            return "absent"
        if self.must is None:
            return "no bar"
        if self.reaches(self.goal):
            return "goal"
        return "must" if self.reaches(self.must) else "BELOW"

    @property
    def origin(self):
        """`detail`, and what is missing from it."""
        return "; ".join(filter(None, [self.detail, *self.lost.texts()]))

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
    return statistics.median(function(*samples) for samples in zip(*series, strict=True))


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
    """Rows of the table of (command, figure) pairs."""
    yield "figure", "measured", "must", "goal", "reaches", "from", "alone"
    for command, f in figures:
        numbers = (show(x, f.unit) for x in (f.value, f.must, f.goal))
        yield f.name, *numbers, f.verdict, f.origin, command


def markdown(rows):
    """Lines of a table, the first row its head."""
    rows = [[cell.replace("|", "/") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]]
