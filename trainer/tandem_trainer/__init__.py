from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

# These libraries report their use to their makers unless this is set before they are loaded: TRL, for one, tells the
# hub the GPU's name. In Tandem nothing leaves the machine unless the user sends it (SECURITY.md).
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # TRL, transformers, the client of the hub
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # trackio's server
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # ONNX Runtime, with an id of the machine


@contextmanager
def importing() -> Iterator[None]:
    """While torch and transformers are imported, garbage collection would take a fifth of the time and find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
