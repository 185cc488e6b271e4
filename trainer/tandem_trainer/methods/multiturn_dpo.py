"""Multi-turn DPO: prefers the better of two trajectories of a task as a whole (arXiv 2305.18290, eq. 7).

The log-ratios of all the agent's tokens are summed; the policy's loss in `sweet_rl.py` is the case of one turn. So
every turn of the better trajectory becomes likelier, useless ones included; a turn-wise critic should improve on that.
The collaborator's tokens are in no turn and thus masked, as in the reference code: here the conventions do not differ.
"""

from ..config import RunConfig
from ..run.objective import Objective
from ..run.reference_cache import ReferenceCache
from ..run.stages import train_policy
from .feedback import with_feedback
from .sweet_rl import Policy


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    return {"policy": with_feedback(config, Policy(config.policy, reference), reference)}


train = train_policy
