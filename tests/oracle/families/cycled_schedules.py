"""Schedules that rise again."""

from torch.optim import lr_scheduler

from support.schedule import schedule


def cases():
    yield schedule(lr_scheduler.CosineAnnealingWarmRestarts, "plain", dict(T_0=8))
    yield schedule(lr_scheduler.CosineAnnealingWarmRestarts, "longer",
                   dict(T_0=5, T_mult=2, eta_min=0.01))
    steps = 40
    one_cycle = dict(max_lr=0.5, total_steps=steps + 1)
    for name, more in (("plain", {}), ("linear", dict(anneal_strategy="linear")),
                       ("three_phases", dict(three_phase=True, pct_start=0.25)),
                       ("factors", dict(div_factor=10.0, final_div_factor=100.0,
                                        base_momentum=0.8, max_momentum=0.9))):
        yield schedule(lr_scheduler.OneCycleLR, name, one_cycle | more, steps=steps,
                       cycled="momentum")
