"""A durable save of 124M parameters with AdamW, by a raw direct write of the same bytes."""

from driver import programs, repeat
from driver.figures import Figure, ratio, versus


def run(options):
    program = programs.bench("bench_checkpoint")
    found = repeat.in_turns([program and [program]], options)
    save, raw = found.value(name="save"), found.value(name="raw_write")
    figure = Figure("save of 124M and AdamW by a raw write", ratio(save, raw), 0.60, 0.92, "%",
                    versus(save, raw, "GB/s"))
    return [figure], {"rows": found.record()}
