"""Time of a call beyond its kernel, and of microbatches beyond one."""

from driver import programs, repeat
from driver.figures import Figure, show

BARS = {"op_forward": (150, 80), "op_forward_backward": (300, 150)}


def calls(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_overhead"),
                             "torch": programs.rival("torch_overhead.py")}, options)
    figures = []
    for name, bars in BARS.items():
        rival = show(found.value(program="torch", name=name), "ns")
        figures.append(Figure(name, found.value(program="tessera", name=name), *bars, "ns",
                              f"PyTorch with a 1-element add: {rival}", found.lost))
    return figures, {"rows": found.record()}


def microbatches(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_microbatches")}, options)
    whole = show(found.value(program="tessera", name="siamese_one_microbatch"), "ms")
    cut = show(found.value(program="tessera", name="siamese_by_default"), "ms")
    ratio = found.value(program="tessera", name="siamese_ratio")
    figure = Figure("siamese step: default microbatches by one", ratio, 1.1, 1.0, "",
                    f"{cut} by {whole}", found.lost)
    return [figure], {"rows": found.record()}


PARTS = {"calls": calls, "microbatches": microbatches}
