// ONNX Runtime reports its use to Microsoft, and keeps an identity of the machine for that, unless it is told not to
// before it is loaded. Nothing leaves the machine unless the person sends it.
process.env.ORT_DISABLE_TELEMETRY = '1';
