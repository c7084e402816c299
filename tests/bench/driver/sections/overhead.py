"""Time of a call beyond its kernel."""

from driver import programs, repeat
from driver.figures import Figure, show

BARS = {"op_forward": (150, 80), "op_forward_after_collective": (150, 80),
        "op_forward_4_microbatches": (200, 150), "op_forward_backward": (300, 150)}


def run(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_overhead"),
                             "torch": programs.rival("torch_overhead.py")}, options)
    figures = []
    for name, bars in BARS.items():
        beside = name.replace("_after_collective", "").replace("_4_microbatches", "")
        rival = show(found.value(program="torch", name=beside), "ns")
        figures.append(Figure(name, found.value(program="tessera", name=name), *bars, "ns",
                              f"PyTorch with a 1-element add: {rival}", found.lost))
    return figures, {"rows": found.record()}


PARTS = {"": run}
