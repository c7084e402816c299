"""What a measure was in two builds, pair by pair, and whether it has fallen."""

import dataclasses
import itertools
import math
import statistics

FALLEN = 1.02  # a row has fallen when the whole interval lies above
COVERAGE = 0.95
HEAD = ("measured", "before", "now", "time by before", "95 % interval", "")


@dataclasses.dataclass(frozen=True)
class Change:
    """A ratio above 1 means slower than before, whatever the unit."""

    name: str
    before: list
    now: list
    unit: str = "ms"

    @property
    def ratios(self):
        """In order."""
        pairs = zip(self.before, self.now, strict=True)
        return sorted(a / b if self.unit.endswith("/s") else b / a for a, b in pairs)

    @property
    def interval(self):
        """Of the median, by order statistics, which ask nothing of the noise (H. A. David and
        H. N. Nagaraja, Order Statistics, section 7.1). Of less than 6 pairs it covers less."""
        ratios = self.ratios
        ways = (math.comb(len(ratios), i) for i in range(len(ratios) // 2))
        tails = (2 * both / 2 ** len(ratios) for both in itertools.accumulate(ways))
        cut = max(sum(tail <= 1 - COVERAGE for tail in tails), 1)
        return ratios[cut - 1], ratios[-cut]

    @property
    def has_fallen(self):
        return self.interval[0] > FALLEN

    def cells(self):
        """Of the table."""
        before, now = (f"{statistics.median(x):.4g} {self.unit}" for x in (self.before, self.now))
        low, high = self.interval
        return (self.name, before, now, f"{statistics.median(self.ratios):.3f}",
                f"{low:.3f} to {high:.3f}", "FALLEN" if self.has_fallen else "")
