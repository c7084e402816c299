"""The machine's roofs, sampled between the measurements that are compared with them."""

import collections
import contextlib
import statistics

from driver import programs, server


class Roofs:
    """Samples of some roofs, each a (name, threads); GFLOP/s and GB/s."""

    def __init__(self, running, wanted):
        self.running, self.wanted = running, wanted
        self.samples = collections.defaultdict(list)

    def sample(self):
        for name, threads in self.wanted if self.running else ():
            self.samples[name, threads].append(self.running.ask(f"{name} {threads}")["value"])

    def median(self, name, threads):
        values = self.samples[name, threads]
        return statistics.median(values) if values else None

    def record(self):
        return [
            {"name": name, "threads": threads, "value": statistics.median(values)}
            for (name, threads), values in self.samples.items()
        ]


@contextlib.contextmanager
def running(*wanted):
    program = programs.bench("bench_roofs")
    if not program:
        yield Roofs(None, wanted)
        return
    with server.Server([program, "--serve"]) as serving:
        yield Roofs(serving, wanted)
