"""Programs that print rows, run several times in turn with others."""

import collections
import statistics

from driver import programs


def key(row):
    """What makes rows of two runs the same row."""
    return tuple(sorted((k, v) for k, v in row.items() if k not in ("value", "unit")))


class Rows:
    """Medians over runs, found by name and labels."""

    def __init__(self):
        self.values = collections.defaultdict(list)

    def add(self, rows):
        for row in rows:
            self.values[key(row)].append(row["value"])

    def value(self, **labels):
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
    """Rows of all commands, each run `options.repeats` times."""
    found = Rows()
    for repeat in range(options.repeats):
        programs.note(f"turn {repeat + 1} of {options.repeats}")
        between()
        for command in commands:
            found.add(programs.rows(command))
    return found
