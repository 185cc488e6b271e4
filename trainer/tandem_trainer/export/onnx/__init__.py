import os

# ONNX Runtime sends telemetry to Microsoft with an id of the machine, unless this is set before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
