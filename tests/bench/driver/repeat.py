"""Programs that print rows, run several times in turn."""

import collections
import statistics

from driver import programs
from driver.lost import Lost


class Rows:
    """Medians over runs, found by labels: `program`, `name` and those of README.md."""

    def __init__(self):
        self.values = collections.defaultdict(list)
        self.lost = Lost()

    def add(self, program, rows):
        for row in rows:
            labels = {k: v for k, v in row.items() if k not in ("value", "unit")}
            labels["program"] = program
            self.values[tuple(sorted(labels.items()))].append(row["value"])

    def value(self, **labels):
        """Of the row that has these labels and no others; None if there is none."""
        values = self.values.get(tuple(sorted(labels.items())))
        return statistics.median(values) if values else None

    def all(self, **labels):
        """Labels and median of each row that has these labels."""
        for found, values in self.values.items():
            if labels.items() <= dict(found).items():
                yield dict(found), statistics.median(values)

    def record(self):
        return [row | {"value": value} for row, value in self.all()]


def in_turns(commands, options, between=lambda: None):
    """Rows of all programs, as {name: program}, each run `options.repeats` times; `between` is
    called before each run. One that fails is not run again."""
    found = Rows()
    for repeat in range(options.repeats):
        programs.note(f"turn {repeat + 1} of {options.repeats}")
        for name, program in commands.items():
            if name in found.lost:
                continue
            between()
            try:
                found.add(name, programs.rows(program))
            except programs.Ended as reason:
                found.lost.add(name, program, reason)
    return found
