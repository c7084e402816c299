"""Schedules that fall in steps or along a power, alone and behind a warm-up."""

from torch.optim import lr_scheduler

from support.schedule import schedule, warmed


def cases():
    yield schedule(lr_scheduler.StepLR, "plain", dict(step_size=7))
    yield schedule(lr_scheduler.StepLR, "half", dict(step_size=3, gamma=0.5))
    yield warmed(lr_scheduler.StepLR, "step", dict(step_size=3, gamma=0.7))
    yield schedule(lr_scheduler.MultiStepLR, "plain", dict(milestones=[5, 9, 30]))
    yield schedule(lr_scheduler.MultiStepLR, "half", dict(milestones=[1, 2, 20], gamma=0.5))
    yield schedule(lr_scheduler.MultiStepLR, "twice", dict(milestones=[3, 10, 10, 20], gamma=0.5))
    yield warmed(lr_scheduler.MultiStepLR, "multi_step", dict(milestones=[0, 4]), warmup=3)
    yield schedule(lr_scheduler.ExponentialLR, "plain", dict(gamma=0.9))
    yield warmed(lr_scheduler.ExponentialLR, "exponential", dict(gamma=0.99), warmup=6)
    yield schedule(lr_scheduler.PolynomialLR, "plain", dict(total_iters=30))
    yield schedule(lr_scheduler.PolynomialLR, "square", dict(total_iters=30, power=2.0))
    yield schedule(lr_scheduler.PolynomialLR, "broken_power", dict(total_iters=30, power=2.5))
    yield warmed(lr_scheduler.PolynomialLR, "polynomial", dict(total_iters=20), warmup=4)
