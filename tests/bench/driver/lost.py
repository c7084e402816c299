"""What gave no numbers, and why."""

import dataclasses

from driver import programs


@dataclasses.dataclass
class Lost:
    """Reasons by the name of the program: ours have failed, rivals are absent."""

    failed: dict = dataclasses.field(default_factory=dict)
    absent: dict = dataclasses.field(default_factory=dict)

    def add(self, name, program, reason):
        kind = "absent" if program.rival else "failed"
        getattr(self, kind)[name] = str(reason)
        programs.note(f"{name} {kind}: {reason}")

    def __contains__(self, name):
        return name in self.failed or name in self.absent

    def __or__(self, other):
        return Lost(self.failed | other.failed, self.absent | other.absent)

    def texts(self):
        for kind in ("failed", "absent"):
            for name, reason in getattr(self, kind).items():
                yield f"{name} {kind}: {reason}"
