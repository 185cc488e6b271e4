/** ONNX Runtime, from here and from nowhere else: the first import must come before the second. */
import './noTelemetry';
export { InferenceSession, listSupportedBackends, Tensor } from 'onnxruntime-node';
