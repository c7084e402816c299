"""The machine's roofs, sampled between the measurements that are compared with them."""

import collections
import contextlib

from driver import programs, server
from driver.figures import COMPARABLE, median, show


def unit(name):
    return "GFLOP/s" if name.startswith("fma") else "GB/s"


class Roofs:
    """Samples of some roofs, each a (name, threads); GFLOP/s and GB/s."""

    def __init__(self, running, wanted):
        self.running, self.wanted = running, wanted
        self.samples = collections.defaultdict(list)

    def sample(self):
        """One of each."""
        for name, threads in self.wanted:
            self.samples[name, threads].append(self.running.ask(f"{name} {threads}")["value"])

    def median(self, name, threads):
        return median(self.samples[name, threads])

    def record(self):
        return [
            {"name": name, "threads": threads, "unit": unit(name), "samples": values}
            for (name, threads), values in self.samples.items()
        ]


@contextlib.contextmanager
def running(*wanted):
    with server.Server(programs.ours("bench_roofs", "--serve")) as serving:
        yield Roofs(serving, wanted)


def table(records):
    """Rows of a table of all samples of a run, of {what they were taken beside: record()}."""
    samples, beside = collections.defaultdict(list), collections.defaultdict(list)
    for label, record in records.items():
        for roof in record:
            samples[roof["name"], roof["threads"]] += roof["samples"]
            beside[roof["name"], roof["threads"]].append(label)
    yield "roof", "threads", "median", "least to most", "samples", "beside"
    for (name, threads), values in sorted(samples.items()):
        spread = " to ".join(show(end, unit(name)) for end in (min(values), max(values)))
        few = "" if len(values) >= COMPARABLE else ", not comparable"
        yield (name, str(threads), show(median(values), unit(name)), spread,
               f"{len(values)}{few}", ", ".join(beside[name, threads]))
