"""From 1 to 2 ranks of one thread: weak scaling, exposed communication, and PyTorch's DDP."""

import functools
import operator
import statistics

from driver import inputs, programs, server
from driver.figures import Figure, median, paired, show, versus

DDP_BARS = {"f32": (2.4, 3.2), "bf16": (1.8, 2.5)}

# Training does its steps one behind the other. The first one after the others' turns finds its pages
# and caches cold (two ranks lose 1 to 2 % by it), so of the steps of a turn it is not counted.
STEPS_OF_A_TURN = 3


def one_rank(**options):
    return programs.ours("bench_gpt", *inputs.gpt2(threads=1, **options))


def two_ranks(**options):
    return programs.under_mpi(2, one_rank(**options))


def steady(times, steps):
    """Of each turn the mean of its steps but the first; of a turn of one step that."""
    turns = (times[at : at + steps] for at in range(0, len(times), steps))
    return [statistics.mean(turn[1:] or turn) for turn in turns]


def measure(commands, options, steps=1):
    """({program: milliseconds of a step, of each round}, what was lost)"""
    with server.Group(commands) as group:
        group.take_turns(options, steps=steps)
        return {name: steady(ms, steps) for name, ms in group.milliseconds().items()}, group.lost


def scaling(options):
    commands = {
        "1 rank": one_rank(batch=4, context=256),
        "2 ranks": two_ranks(batch=8, context=256),
        "2 ranks, no communication": two_ranks(batch=8, context=256, comm="none"),
    }
    ms, lost = measure(commands, options, STEPS_OF_A_TURN)
    one, two, silent = (ms.get(name) for name in commands)
    exposed = paired(lambda step, alone: (step - alone) / step, two, silent)
    parts = [f"{name} {median(found):.0f} ms" for name, found in ms.items()]
    without = show(paired(operator.truediv, one, silent), "%")
    detail = ", ".join([*parts, f"scaling without communication {without}"])
    figures = [
        Figure("weak scaling, 1 to 2 ranks, 124M f32", paired(operator.truediv, one, two),
               0.95, 0.98, "%", detail, lost),
        Figure("exposed communication in it", exposed, 0.03, 0.01, "%",
               versus(median(two), median(silent), "ms"), lost),
    ]
    return figures, ms


def against_ddp(dtype, options):
    shape = dict(batch=8, context=64, dtype=dtype)
    ddp = programs.rival("torch_ddp.py", *inputs.gpt2(threads=1, **shape))
    ms, lost = measure({"tessera": two_ranks(**shape), "ddp": ddp}, options)
    ours, theirs = ms.get("tessera"), ms.get("ddp")
    figure = Figure(f"2-rank step, B4 x T64 a rank, {dtype}: speed by PyTorch DDP",
                    paired(operator.truediv, theirs, ours), *DDP_BARS[dtype], "x",
                    versus(median(theirs), median(ours), "ms"), lost)
    return [figure], ms


PARTS = {"scaling": scaling}
PARTS |= {f"ddp-{dtype}": functools.partial(against_ddp, dtype) for dtype in DDP_BARS}
