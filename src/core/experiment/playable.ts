import { existsSync } from 'node:fs';
import path from 'node:path';
import { runFiles } from '../training/runFolder';
import type { Run } from '../training/runs';

/** Its model has graphs with which it plays on this machine. */
export const canPlay = ({ folder }: Run): boolean => hasGraphs(path.join(folder, runFiles.model));

/** So has the model that it began with. */
export const canStartPlay = ({ base }: Run): boolean => path.isAbsolute(base) && hasGraphs(base);

/** A model folder that ONNX Runtime plays. */
export const hasGraphs = (folder: string): boolean => existsSync(path.join(folder, 'onnx'));
