"""The process that trainers are forked from imports this, which does once what each of them would begin with.

Nothing here starts a thread: a process that has some must not be forked.
"""

from importlib import import_module

import torch
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

from tandem_trainer.model.flops import measured_peak

for name in (
    "peft.utils.transformers_weight_conversion",
    "tandem_trainer.onnx.shape",
    "tandem_trainer.ranking.sampler",
    "tandem_trainer.running.stages",
    "tandem_trainer.running.train",
    "tandem_trainer.running.workload",
    "transformers.models.llama.modeling_llama",
):
    import_module(name)

# A thousand regular expressions, which transformers compiles before it loads its first model.
get_checkpoint_conversion_mapping("llama")

# The speed of one thread, with which every plan on a processor begins.
torch.set_num_threads(1)
measured_peak(torch.float32, 1)
