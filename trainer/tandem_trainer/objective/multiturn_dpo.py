"""The baseline multi-turn DPO: the better and the worse trajectory of one task, as a whole.

The log-ratios of all the agent's tokens are added up and compared as in DPO (arXiv 2305.18290, eq. 7), so every turn of
the better trajectory is made likelier, the useless ones as well; that is what a turn-wise critic is to improve on. The
collaborator's tokens are in no turn and thereby masked.
"""

from ..config import PolicyConfig
from .policy import Policy
from .reference_cache import ReferenceCache


class MultiTurnDpo(Policy):
    """Step-wise DPO is the case of one turn, so this is the policy's loss with all turns on each side.

    The reference code masks the prompt here, so it has no convention of its own.
    """

    def __init__(self, settings: PolicyConfig, reference: ReferenceCache):
        super().__init__(settings, reference, convention="paper")
