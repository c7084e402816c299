"""Time of a call beyond its kernel."""

from driver import programs, repeat
from driver.figures import Figure

BARS = {"op_forward": (150, 80), "op_forward_backward": (300, 150)}


def run(options):
    program = programs.bench("bench_overhead")
    ours = repeat.in_turns([program and [program]], options)
    theirs = repeat.in_turns([programs.rival("torch_overhead.py")], options)
    figures = []
    for name, bars in BARS.items():
        rival = theirs.value(name=name)
        detail = f"PyTorch with a 1-element add: {rival:.0f} ns" if rival else "PyTorch absent"
        figures.append(Figure(name, ours.value(name=name), *bars, "ns", detail))
    return figures, {"tessera": ours.record(), "torch": theirs.record()}
