"""Kernels alone, beside PyTorch's: those that move memory by the copy bandwidth, which the program
measures after each call, and attention. PyTorch is tuned by its environment: without huge pages its
kernels mostly wait for the memory of their results."""

import functools

from driver import programs, repeat, roofs
from driver.figures import Figure, ratio, versus

KERNELS = ("layer_norm", "softmax", "adamw", "cross_entropy")
LENGTHS = (256, 1024)


def share(kernel, threads, found):
    mine = functools.partial(found.value, program="tessera", threads=threads)
    speed, roof = mine(name=kernel), mine(name=f"{kernel}_roof")
    where = "1 thread" if threads == 1 else f"{threads} threads"
    return Figure(f"{kernel}, {where}: share of the copy bandwidth", mine(name=f"{kernel}_share"),
                  0.80, 0.92, "%", versus(speed, roof, "GB/s"), found.lost)


def by_torch(kernel, name, unit, found, **labels):
    """A figure without a bar."""
    ours, theirs = (found.value(program=program, name=kernel, threads=2, **labels)
                    for program in ("tessera", "torch"))
    return Figure(f"{name}, 2 threads: speed by PyTorch", ratio(ours, theirs), unit="x",
                  detail=versus(ours, theirs, unit), lost=found.lost)


def in_turns(kernel, roof, options):
    """Rows of one kernel, ours and PyTorch's."""
    torch = programs.rival("torch_kernels.py", kernel, "--threads", 2, extra=programs.TUNED)
    commands = {"tessera": programs.ours("bench_kernels", kernel), "torch": torch}
    return repeat.in_turns(commands, options, lambda: (roof.sample(), roof.sample()))


def memory_bound(kernel, options):
    with roofs.running(("dram_copy", 1), ("dram_copy", 2)) as roof:
        found = in_turns(kernel, roof, options)
    figures = [*(share(kernel, threads, found) for threads in (1, 2)),
               by_torch(kernel, kernel, "GB/s", found)]
    return figures, {"rows": found.record(), "roofs": roof.record()}


def attention(options):
    with roofs.running(("fma_f32", 2), ("fma_bf16", 2)) as roof:
        found = in_turns("attention", roof, options)
    figures = [by_torch("attention", f"attention {dtype}, {length} tokens, forward and backward",
                        "GFLOP/s", found, dtype=dtype, length=length)
               for dtype in ("f32", "bf16") for length in LENGTHS]
    return figures, {"rows": found.record(), "roofs": roof.record()}


PARTS = {kernel: functools.partial(memory_bound, kernel) for kernel in KERNELS}
PARTS |= {"attention": attention}
