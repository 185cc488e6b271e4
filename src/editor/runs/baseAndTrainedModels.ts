import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Run } from '../../core/training/runs';
import type { LocalPlace } from '../models/localModels';
import { specOf, type Server } from '../models/server';

interface PlayableModels {
  readonly localPlaces: readonly LocalPlace[];
  readonly servers: readonly Server[];
}

/** Names both models as the settings do; undefined where one cannot play here. */
export function beforeAndAfter(
  { folder, base }: Pick<Run, 'folder' | 'base'>,
  { localPlaces, servers }: PlayableModels,
): { readonly before: string | undefined; readonly after: string | undefined } {
  const server = servers.find(({ model }) => model === base);
  const before =
    localPlaces.find((place) => path.relative(place.folder, base) === '')?.spec ??
    (path.isAbsolute(base) && existsSync(path.join(base, 'onnx')) ? `local:${base}` : undefined) ??
    (server && specOf(server));
  return { before, after: localPlaces.find((place) => path.dirname(place.folder) === folder)?.spec };
}
