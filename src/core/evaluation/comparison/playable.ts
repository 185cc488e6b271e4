import { existsSync } from 'node:fs';
import path from 'node:path';
import { modelOf } from '../../training/runFolder';
import type { Run } from '../../training/runs';

/** Tells whether the run's model has graphs, with which it plays on this machine. */
export const canPlay = ({ folder }: Run): boolean => hasGraphs(modelOf({ folder }));

/** Tells whether the model that the run began with has graphs, too. */
export const canStartPlay = ({ base }: Run): boolean => path.isAbsolute(base) && hasGraphs(base);

/** Tells whether ONNX Runtime can play a model folder. */
export const hasGraphs = (folder: string): boolean => existsSync(path.join(folder, 'onnx'));
