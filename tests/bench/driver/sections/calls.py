"""Time of a module's call beyond its ops."""

from driver import programs, repeat
from driver.figures import Figure

ROWS = {
    "module_call": "module call beyond its ops, through Child",
    "sequential_child": "the same, per child of a Sequential of 10",
}


def run(options):
    program = programs.bench("bench_calls")
    ours = repeat.in_turns([program and [program]], options)
    theirs = repeat.in_turns([programs.rival("torch_calls.py")], options)
    figures = []
    for name, text in ROWS.items():
        rival = theirs.value(name=name)
        detail = f"PyTorch: {rival:.0f} ns" if rival else "PyTorch absent"
        figures.append(Figure(text, ours.value(name=name), 50, 50, "ns", detail))
    return figures, {"tessera": ours.record(), "torch": theirs.record()}
