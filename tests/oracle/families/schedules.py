"""Schedules that follow a curve, alone and behind a warm-up."""

from torch.optim import lr_scheduler

from support.schedule import RATES, schedule, warmed

WARMUP, STEPS = 5, 40


def cases():
    constant = dict(factor=1.0, total_iters=STEPS)
    yield schedule(lr_scheduler.ConstantLR, "plain", constant)
    yield warmed(lr_scheduler.ConstantLR, "constant", constant, warmup=3)
    for eta_min in (0.0, 0.01):
        arguments = dict(T_max=STEPS, eta_min=eta_min)
        yield schedule(lr_scheduler.CosineAnnealingLR, f"to_{eta_min}", arguments)
        after = dict(T_max=STEPS - WARMUP, eta_min=eta_min)
        yield warmed(lr_scheduler.CosineAnnealingLR, f"cosine_to_{eta_min}", after, WARMUP)
    for end in (0.0, 0.25):
        # PyTorch's lowest rate is a part of the group's highest, Tessera's is one for all groups.
        groups = dict(lr=RATES if end == 0 else RATES[:1])
        arguments = dict(start_factor=1.0, end_factor=end, total_iters=STEPS)
        yield schedule(lr_scheduler.LinearLR, f"to_{end}", arguments, **groups)
        after = dict(start_factor=1.0, end_factor=end, total_iters=STEPS - WARMUP)
        yield warmed(lr_scheduler.LinearLR, f"linear_to_{end}", after, WARMUP, **groups)
