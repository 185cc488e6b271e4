import { existsSync } from 'node:fs';
import path from 'node:path';

/** The name of the model that ships with Tandem. */
export const STARTER = 'starter';

/** Where a model is that plays on this machine. */
export interface LocalPlace {
  /** As the settings and the log name it: `starter`, or `local:<folder>` with the folder relative to the workspace. */
  readonly spec: string;
  /** Absolute. */
  readonly folder: string;
  /** What a person calls it. */
  readonly name: string;
  /** Whether the setting `tandem.modelFolders` holds it, so that it can be taken out there. */
  readonly listed: boolean;
}

/** What decides which local models there are. */
export interface LocalSettings {
  readonly agent: string;
  readonly simulator: string;
  readonly modelFolders: readonly string[];
  /** Relative paths stand in the workspace; undefined when none is open. */
  resolve(file: string): string | undefined;
}

/** The local model that a setting names; undefined for servers, scripts and rules. */
export function localPlace(
  spec: string,
  starterFolder: string,
  resolve: LocalSettings['resolve'],
): LocalPlace | undefined {
  if (spec === STARTER) return { spec, folder: starterFolder, name: STARTER, listed: false };
  const written = /^local:(.+)$/s.exec(spec)?.[1];
  if (written === undefined) return undefined;
  const folder = path.normalize(resolve(written) ?? written).replace(/(?<=.)[\\/]+$/, '');
  return { spec, folder, name: folderName(folder), listed: false };
}

/** The starter model where it ships, the folders of the list, and what is in use though the list lacks it. */
export function localPlaces(settings: LocalSettings, starterFolder: string): LocalPlace[] {
  const place = (spec: string): LocalPlace | undefined =>
    localPlace(spec, starterFolder, (file) => settings.resolve(file));
  const listed = settings.modelFolders.map((folder) => {
    const found = place(`local:${folder}`);
    return found && { ...found, listed: true };
  });
  const shipped = existsSync(starterFolder) ? [place(STARTER)] : [];
  const all = [...shipped, ...listed, place(settings.agent), place(settings.simulator)];
  const byFolder = new Map<string, LocalPlace>();
  for (const found of all) if (found && !byFolder.has(found.folder)) byFolder.set(found.folder, found);
  return [...byFolder.values()];
}

/** The folder of a trained model is called `model` in its run's folder: the run's name tells more. */
function folderName(folder: string): string {
  const name = path.basename(folder);
  return name === 'model' ? `${path.basename(path.dirname(folder))}/model` : name;
}
