"""Schedules that follow a curve, alone and behind a warm-up."""

from torch.optim import lr_scheduler

from support.schedule import Schedule, schedule

WARMUP, STEPS = 5, 40


def warmed(after, name, arguments):
    """`after` behind a linear warm-up from 1 / (WARMUP + 1) of the rate."""
    def make(optimizer):
        warmup = lr_scheduler.LinearLR(optimizer, 1 / (WARMUP + 1), 1.0, WARMUP)
        parts = [warmup, after(optimizer, **arguments)]
        return lr_scheduler.SequentialLR(optimizer, parts, milestones=[WARMUP])
    more = {"after": after.__name__, "warmup": WARMUP}
    return Schedule("SequentialLR", name, make, arguments | more, STEPS)


def cases():
    yield schedule(lr_scheduler.ConstantLR, "plain", dict(factor=1.0, total_iters=STEPS))
    for eta_min in (0.0, 0.01):
        arguments = dict(T_max=STEPS, eta_min=eta_min)
        yield schedule(lr_scheduler.CosineAnnealingLR, f"to_{eta_min}", arguments)
        after = dict(T_max=STEPS - WARMUP, eta_min=eta_min)
        yield warmed(lr_scheduler.CosineAnnealingLR, f"cosine_to_{eta_min}", after)
    for end in (0.0, 0.25):
        arguments = dict(start_factor=1.0, end_factor=end, total_iters=STEPS)
        yield schedule(lr_scheduler.LinearLR, f"to_{end}", arguments)
        after = dict(start_factor=1.0, end_factor=end, total_iters=STEPS - WARMUP)
        yield warmed(lr_scheduler.LinearLR, f"linear_to_{end}", after)
