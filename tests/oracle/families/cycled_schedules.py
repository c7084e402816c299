"""Schedules that rise again."""

from torch.optim import lr_scheduler

from support.schedule import schedule, warmed

STEPS = 40
ONE_CYCLE = dict(max_lr=[0.5, 0.02], total_steps=STEPS + 1)


def cases():
    restarts = lr_scheduler.CosineAnnealingWarmRestarts
    yield schedule(restarts, "plain", dict(T_0=8))
    yield schedule(restarts, "longer", dict(T_0=5, T_mult=2, eta_min=0.01))
    yield warmed(restarts, "restarts", dict(T_0=3, T_mult=3), warmup=4)
    factors = dict(div_factor=10.0, final_div_factor=100.0, base_momentum=0.8, max_momentum=0.9)
    for name, more in (("plain", {}), ("linear", dict(anneal_strategy="linear")),
                       ("three_phases", dict(three_phase=True, pct_start=0.25)), ("factors", factors),
                       ("cut", factors | dict(total_steps=50, pct_start=0.25))):
        yield schedule(lr_scheduler.OneCycleLR, name, ONE_CYCLE | more, cycled="momentum")
    fixed = dict(three_phase=True, anneal_strategy="linear", cycle_momentum=False)
    yield schedule(lr_scheduler.OneCycleLR, "rates_alone", ONE_CYCLE | fixed)
