import { existsSync } from 'node:fs';
import path from 'node:path';
import { modelOf } from '../../training/runFolder';
import type { Run } from '../../training/runs';

/** ONNX graphs are needed to play on this machine. */
export const canPlay = ({ folder }: Run): boolean => hasGraphs(modelOf({ folder }));

/** True if the model that the run began with has graphs, too. */
export const canStartPlay = ({ base }: Run): boolean => path.isAbsolute(base) && hasGraphs(base);

export const hasGraphs = (folder: string): boolean => existsSync(path.join(folder, 'onnx'));
