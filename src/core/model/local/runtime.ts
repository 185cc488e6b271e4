/** The only import of ONNX Runtime: the first line disables its telemetry and must precede the second. */
import './noTelemetry';
export { InferenceSession, listSupportedBackends, Tensor } from 'onnxruntime-node';
