"""What every backend must do, as a suite: subclass `SandboxConformance`, give it `make`, run it with pytest.

It asks nothing of the guest's side but sh and the commonest small programs, flock among them, and needs no test
library itself.
"""

from sandbox.testing.stage import LIMITS, Guarantee, Heard, script
from sandbox.testing.suite import SandboxConformance

__all__ = ["LIMITS", "Guarantee", "Heard", "SandboxConformance", "script"]
