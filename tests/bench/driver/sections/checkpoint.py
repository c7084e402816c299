"""A durable save of 124M parameters with AdamW, by a raw direct write of the same bytes."""

from driver import programs, repeat
from driver.figures import Figure, ratio, versus


def run(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_checkpoint")}, options)
    save, raw = (found.value(program="tessera", name=name) for name in ("save", "raw_write"))
    figure = Figure("save of 124M and AdamW by a raw write", ratio(save, raw), 0.60, 0.92, "%",
                    versus(save, raw, "GB/s"), found.lost)
    return [figure], {"rows": found.record()}


PARTS = {"": run}
