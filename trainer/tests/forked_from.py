"""Work that every trainer starts with, done once in the process from which the tests fork trainers.

Nothing here may start a thread, because a process with threads must not be forked.
"""

from importlib import import_module

import torch
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

from tandem_trainer.model.flops import measured_peak

for name in (
    "peft.utils.transformers_weight_conversion",
    "tandem_trainer.export.onnx.shape",
    "tandem_trainer.run.sampler",
    "tandem_trainer.run.stages",
    "tandem_trainer.run.train",
    "tandem_trainer.run.workload",
    "transformers.models.llama.modeling_llama",
):
    import_module(name)

# transformers compiles a thousand regular expressions before it loads its first model.
get_checkpoint_conversion_mapping("llama")

# Every plan on a CPU first measures the speed of one thread.
torch.set_num_threads(1)
measured_peak(torch.float32, 1)
