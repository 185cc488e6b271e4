import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runFiles } from '../../core/training/runFolder';
import { withoutEnd } from '../../core/text';

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
  /** Why it is shown: it ships with Tandem, was trained here, stands in `tandem.modelFolders`, or a setting has it play. */
  readonly from: 'tandem' | 'training' | 'list' | 'use';
}

/** What decides which local models there are. */
export interface LocalSettings {
  readonly agent: string;
  readonly secondAgent: string;
  readonly simulator: string;
  readonly modelFolders: readonly string[];
  /** In which training leaves its models; undefined when no workspace is open. */
  readonly dataFolder: string | undefined;
  /** Relative paths stand in the workspace; undefined when none is open. */
  resolve(file: string): string | undefined;
}

/** The local model that a setting names; undefined for servers, scripts and rules. */
export function localPlace(
  spec: string,
  starterFolder: string,
  resolve: LocalSettings['resolve'],
): LocalPlace | undefined {
  if (spec === STARTER) return { spec, folder: starterFolder, name: STARTER, from: 'tandem' };
  const written = /^local:(.+)$/s.exec(spec)?.[1];
  if (written === undefined) return undefined;
  const whole = path.normalize(resolve(written) ?? written);
  const folder = whole.slice(0, 1) + withoutEnd(whole.slice(1), '\\/');
  return { spec, folder, name: folderName(folder), from: 'use' };
}

/** The starter model where it ships, what was trained here, the folders of the list, and what else plays now. */
export function localPlaces(settings: LocalSettings, starterFolder: string): LocalPlace[] {
  const { agent, secondAgent, simulator, modelFolders, dataFolder } = settings;
  const place = (spec: string, from: LocalPlace['from'] = 'use'): LocalPlace | undefined => {
    const found = localPlace(spec, starterFolder, (file) => settings.resolve(file));
    return found && { ...found, from };
  };
  const workspace = settings.resolve('.') ?? '';
  const all = [
    existsSync(starterFolder) ? place(STARTER, 'tandem') : undefined,
    ...modelFolders.map((folder) => place(`local:${folder}`, 'list')),
    ...trainedFolders(dataFolder).map((folder) => place(`local:${within(workspace, folder)}`, 'training')),
    place(agent),
    place(secondAgent),
    place(simulator),
  ];
  const byFolder = new Map<string, LocalPlace>();
  for (const found of all) if (found && !byFolder.has(found.folder)) byFolder.set(found.folder, found);
  return toldApart([...byFolder.values()]);
}

/**
 * As the settings and the log name a model that is opened by its place, so that no path of this machine gets into the log.
 * @param place a model folder, or a graph in its `onnx/`
 */
export function specAt(place: string, places: readonly LocalPlace[], workspace: string): string {
  const folder = place.endsWith('.onnx') ? path.dirname(path.dirname(place)) : place;
  const known = places.find((one) => one.folder === folder);
  if (known !== undefined) return known.spec;
  const inside = within(workspace, folder);
  return `local:${path.isAbsolute(inside) ? path.basename(folder) : inside}`;
}

/** Of runs that have one name, each has the end of its id behind it. */
function toldApart(places: readonly LocalPlace[]): LocalPlace[] {
  const byName = Map.groupBy(places, ({ name }) => name);
  return places.map((place) => {
    const isAlone = byName.get(place.name)!.length === 1;
    if (isAlone || runName(place.folder) === undefined) return place;
    const id = path.basename(path.dirname(place.folder));
    return { ...place, name: `${place.name} (${id.slice(-4)})` };
  });
}

/** Models that runs and loops have left in the data folder and that can play here, by name. */
function trainedFolders(dataFolder: string | undefined): string[] {
  if (dataFolder === undefined) return [];
  return ['loops', 'runs'].flatMap((kind) => {
    const parent = path.join(dataFolder, kind);
    if (!existsSync(parent)) return [];
    const folders = readdirSync(parent).map((name) => path.join(parent, name, 'model'));
    return folders.filter((folder) => existsSync(path.join(folder, 'onnx'))).sort();
  });
}

/** Relative when the workspace holds it, so that no path of this machine gets into the log. */
function within(workspace: string, folder: string): string {
  const relative = path.relative(workspace, folder);
  return relative.startsWith('..') || path.isAbsolute(relative) ? folder : relative.replaceAll('\\', '/');
}

/** The folder of a trained model is called `model` in its run's folder: what the run is called tells more. */
function folderName(folder: string): string {
  const name = path.basename(folder);
  if (name !== runFiles.model) return name;
  return runName(folder) ?? `${path.basename(path.dirname(folder))}/${name}`;
}

/** By the folders of models: a run keeps the name that it was made with. */
const runNames = new Map<string, string | undefined>();

/** What the run is called whose model this is; undefined where it is no run's, or of one without a name. */
export function runName(model: string): string | undefined {
  if (path.basename(model) !== runFiles.model) return undefined;
  if (!runNames.has(model))
    runNames.set(model, readName(path.join(path.dirname(model), runFiles.configuration)));
  return runNames.get(model);
}

function readName(configuration: string): string | undefined {
  if (!existsSync(configuration)) return undefined;
  try {
    const { name } = JSON.parse(readFileSync(configuration, 'utf8')) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch (error) {
    // Such a run is told of in the Runs view; its model is called by its folder.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
