// ONNX Runtime reports its use to Microsoft, and stores an id of the machine for that, unless this is disabled before
// it is loaded. In Tandem nothing leaves the machine unless the user sends it.
process.env.ORT_DISABLE_TELEMETRY = '1';
