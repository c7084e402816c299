"""Learning rates of two groups, and momenta, in the first steps of each schedule of PyTorch, behind
a linear warm-up where `warmup` asks for one."""

import torch
from torch.optim import lr_scheduler as schedulers

STEPS = 40
RATES = [0.5, 0.02]
# A loss that falls, stays, rises a little and falls again.
METRICS = [1.0 / (1 + i) if i < 8 else 0.125 if i < 20 else 0.13 if i < 26 else 0.1 - 0.001 * i
           for i in range(STEPS)]

SETTINGS = [
    ("constant", schedulers.ConstantLR, dict(factor=1.0), 3),
    ("cosine", schedulers.CosineAnnealingLR, dict(T_max=40, eta_min=0.01), 0),
    ("cosine", schedulers.CosineAnnealingLR, dict(T_max=35, eta_min=0.01), 5),
    ("cosine_restarts", schedulers.CosineAnnealingWarmRestarts, dict(T_0=7, eta_min=0.01), 0),
    ("cosine_restarts", schedulers.CosineAnnealingWarmRestarts, dict(T_0=5, T_mult=2), 0),
    ("cosine_restarts", schedulers.CosineAnnealingWarmRestarts, dict(T_0=3, T_mult=3), 4),
    ("step", schedulers.StepLR, dict(step_size=7), 0),
    ("step", schedulers.StepLR, dict(step_size=3, gamma=0.7), 5),
    ("multi_step", schedulers.MultiStepLR, dict(milestones=[3, 10, 10, 20], gamma=0.5), 0),
    ("multi_step", schedulers.MultiStepLR, dict(milestones=[0, 4]), 3),
    ("exponential", schedulers.ExponentialLR, dict(gamma=0.9), 0),
    ("exponential", schedulers.ExponentialLR, dict(gamma=0.99), 6),
    ("polynomial", schedulers.PolynomialLR, dict(total_iters=30, power=2.5), 0),
    ("polynomial", schedulers.PolynomialLR, dict(total_iters=20), 4),
    ("one_cycle", schedulers.OneCycleLR, dict(max_lr=RATES, total_steps=41), 0),
    ("one_cycle", schedulers.OneCycleLR,
     dict(max_lr=RATES, total_steps=50, pct_start=0.25, anneal_strategy="linear", div_factor=10.0,
          final_div_factor=100.0, base_momentum=0.8, max_momentum=0.9), 0),
    ("one_cycle", schedulers.OneCycleLR,
     dict(max_lr=RATES, total_steps=45, pct_start=0.4, three_phase=True), 0),
    ("one_cycle", schedulers.OneCycleLR,
     dict(max_lr=RATES, total_steps=41, three_phase=True, anneal_strategy="linear",
          cycle_momentum=False), 0),
    ("plateau", schedulers.ReduceLROnPlateau, dict(patience=2), 0),
    ("plateau", schedulers.ReduceLROnPlateau,
     dict(factor=0.5, patience=1, threshold=0.01, threshold_mode="abs", cooldown=3, min_lr=0.01,
          eps=1e-3), 0),
    ("plateau", schedulers.ReduceLROnPlateau, dict(mode="max", factor=0.7, patience=3), 0),
    ("plateau", schedulers.ReduceLROnPlateau,
     dict(mode="max", patience=4, threshold=0.02, threshold_mode="abs"), 0),
]


def after_warmup(optimizer, kind, settings, warmup):
    if warmup == 0:
        return kind(optimizer, **settings)
    rise = schedulers.LinearLR(optimizer, start_factor=1 / (warmup + 1), total_iters=warmup)
    return schedulers.SequentialLR(optimizer, [rise, kind(optimizer, **settings)], [warmup])


def run(kind, settings, warmup):
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": lr} for lr in RATES]
    optimizer = torch.optim.SGD(groups, momentum=0.5)
    schedule = after_warmup(optimizer, kind, settings, warmup)
    rates, momenta = [], []
    for step in range(STEPS):
        rates.append([group["lr"] for group in optimizer.param_groups])
        momenta.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        if kind is schedulers.ReduceLROnPlateau:
            schedule.step(METRICS[step])
        else:
            schedule.step()
    record = {"settings": settings, "warmup": warmup, "lr": RATES, "rates": rates}
    if kind is schedulers.OneCycleLR:
        record["momenta"] = momenta
    if kind is schedulers.ReduceLROnPlateau:
        record["metrics"] = METRICS
    return record


def runs():
    for name, kind, settings, warmup in SETTINGS:
        yield name, run(kind, settings, warmup)
