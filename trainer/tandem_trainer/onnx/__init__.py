import os

# ONNX Runtime reports its use to Microsoft, and keeps an identity of the machine for that, unless it is told not to
# before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
