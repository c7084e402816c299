"""Time of a module's call beyond its ops."""

from driver import programs, repeat
from driver.figures import Figure, show

ROWS = {
    "module_call": "module call beyond its ops, through Child",
    "sequential_child": "the same, per child of a Sequential of 10",
}


def run(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_calls"),
                             "torch": programs.rival("torch_calls.py")}, options)
    figures = []
    for name, text in ROWS.items():
        rival = show(found.value(program="torch", name=name), "ns")
        figures.append(Figure(text, found.value(program="tessera", name=name), 50, 50, "ns",
                              f"PyTorch: {rival}", found.lost))
    return figures, {"rows": found.record()}


PARTS = {"": run}
