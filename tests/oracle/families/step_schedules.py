"""Schedules that fall in steps or along a power."""

from torch.optim import lr_scheduler

from support.schedule import schedule


def cases():
    yield schedule(lr_scheduler.StepLR, "plain", dict(step_size=7))
    yield schedule(lr_scheduler.StepLR, "half", dict(step_size=3, gamma=0.5))
    yield schedule(lr_scheduler.MultiStepLR, "plain", dict(milestones=[5, 9, 30]))
    yield schedule(lr_scheduler.MultiStepLR, "half", dict(milestones=[1, 2, 20], gamma=0.5))
    yield schedule(lr_scheduler.ExponentialLR, "plain", dict(gamma=0.9))
    yield schedule(lr_scheduler.PolynomialLR, "plain", dict(total_iters=30))
    yield schedule(lr_scheduler.PolynomialLR, "square", dict(total_iters=30, power=2.0))
