"""The schedule that watches a metric."""

import math

from torch.optim import lr_scheduler

from support.schedule import schedule

# It falls, stays, falls by less and less, and is once not a number.
FALLING = [1.0 / (1 + step // 4) + 1e-5 * step for step in range(30)]
METRICS = FALLING + [math.nan] + [0.05] * 9


def cases():
    for name, arguments in (
        ("plain", dict(patience=3)),
        ("half", dict(factor=0.5, patience=1, cooldown=2)),
        ("absolute", dict(factor=0.5, patience=2, threshold=0.01, threshold_mode="abs")),
        ("bounded", dict(factor=0.1, patience=0, min_lr=0.004)),
        ("small_steps", dict(factor=0.5, patience=0, eps=0.01)),
        ("all", dict(factor=0.5, patience=1, threshold=0.01, threshold_mode="abs", cooldown=3,
                     min_lr=0.003, eps=1e-3)),
    ):
        yield schedule(lr_scheduler.ReduceLROnPlateau, name, arguments, metrics=METRICS)
    rising = [1 - metric for metric in METRICS]
    for name, more in (("rising", {}),
                       ("rising_absolute", dict(threshold=0.02, threshold_mode="abs"))):
        yield schedule(lr_scheduler.ReduceLROnPlateau, name, dict(mode="max", patience=2) | more,
                       metrics=rising)
