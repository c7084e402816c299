"""From 1 to 2 ranks of one thread: weak scaling, exposed communication, and PyTorch's DDP."""

import operator
import statistics

from driver import inputs, programs, server
from driver.figures import Figure, median, paired, show, versus

DDP_BARS = {"f32": (2.4, 3.2), "bf16": (1.8, 2.5)}

# Training does its steps one behind the other. The first one after the others' turns finds its pages
# and caches cold (two ranks lose 1 to 2 % by it), so of the steps of a turn it is not counted.
STEPS_OF_A_TURN = 3


def two_ranks(**options):
    command = inputs.ours(*inputs.gpt2(threads=1, **options))
    return programs.under_mpi(2, command), None


def steady(times, steps):
    """Of each turn the mean of its steps but the first; of a turn of one step that."""
    turns = (times[at : at + steps] for at in range(0, len(times), steps))
    return [statistics.mean(turn[1:] or turn) for turn in turns]


def times(commands, options, steps=1):
    """{program: milliseconds of a step, of each round}"""
    servers = server.start(commands)
    try:
        server.take_turns(servers, options, steps=steps)
        skip = options.warmup * steps
        return {name: steady(server.times(one, skip=skip), steps) for name, one in servers.items()}
    finally:
        server.stop(servers)


def scaling(options):
    alone = inputs.ours(*inputs.gpt2(threads=1, batch=4, context=256))
    ms = times(
        {
            "1 rank": (alone, None),
            "2 ranks": two_ranks(batch=8, context=256),
            "2 ranks, no communication": two_ranks(batch=8, context=256, comm="none"),
        },
        options,
        steps=STEPS_OF_A_TURN,
    )
    one, two, silent = (ms.get(k) for k in ("1 rank", "2 ranks", "2 ranks, no communication"))
    exposed = paired(lambda step, alone: (step - alone) / step, two, silent)
    parts = [f"{name} {median(found):.0f} ms" for name, found in ms.items()]
    without = show(paired(operator.truediv, one, silent), "%")
    detail = ", ".join([*parts, f"scaling without communication {without}"])
    figures = [
        Figure("weak scaling, 1 to 2 ranks, 124M f32", paired(operator.truediv, one, two), 0.95, 0.98, "%", detail),
        Figure("exposed communication in it", exposed, 0.03, 0.01, "%"),
    ]
    return figures, ms


def against_ddp(dtype, options):
    shape = dict(batch=8, context=64, dtype=dtype)
    ddp = inputs.theirs("torch_ddp.py", *inputs.gpt2(threads=1, **shape))
    ms = times({"tessera": two_ranks(**shape), "ddp": (ddp, None)}, options)
    ours, theirs = ms.get("tessera"), ms.get("ddp")
    detail = versus(*(median(found) for found in (theirs, ours)), "ms")
    return Figure(f"2-rank step, B4 x T64 a rank, {dtype}: speed by PyTorch DDP",
                  paired(operator.truediv, theirs, ours), *DDP_BARS[dtype], "x", detail), ms


def run(options):
    figures, record = scaling(options)
    record = {"scaling": record}
    for dtype in DDP_BARS:
        figure, record[f"ddp_{dtype}"] = against_ddp(dtype, options)
        figures.append(figure)
    return figures, record
