import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { simulatorModel } from '../core/dialogue/specification/specificationSpec';
import { isUnfit, readTextSync } from '../core/regularFile';
import { isShipped, SHIPPED_MODELS, type ShippedModel } from '../core/model/shippedModels';
import { MAX_RECORD_BYTES, runFiles, runsFolderOf } from '../core/training/runFolder';
import { withoutEnd } from '../core/text';
import type { FolderSettings } from './configuration';
import { toldApart } from './displayNames';

/** Folder of runs, in a data folder and in that of a loop. */
const RUNS = path.basename(runsFolderOf(''));

export const STARTER = 'starter' satisfies ShippedModel;

export interface LocalPlace {
  /** `starter`, `starter-pages`, `starter-questions`, or `local:<folder>` with the folder relative to the workspace. */
  readonly spec: string;
  readonly folder: string;
  readonly name: string;
  /** Why it is listed: it ships with Tandem, was trained here, is in `tandem.modelFolders`, or a setting uses it. */
  readonly from: 'tandem' | 'training' | 'list' | 'use';
}

export type LocalSettings = Pick<
  FolderSettings,
  'agent' | 'secondAgent' | 'simulator' | 'modelFolders' | 'dataFolder' | 'resolve'
>;

/**
 * Undefined for servers, scripts and rules.
 * @param shipped the folder that holds those of the shipped models
 */
export function localPlace(
  spec: string,
  shipped: string,
  resolve: LocalSettings['resolve'],
): LocalPlace | undefined {
  if (isShipped(spec)) return { spec, folder: path.join(shipped, spec), name: spec, from: 'tandem' };
  const written = /^local:(.+)$/s.exec(spec)?.[1];
  if (written === undefined) return undefined;
  const whole = path.normalize(resolve(written) ?? written);
  const folder = whole.slice(0, 1) + withoutEnd(whole.slice(1), '\\/');
  return { spec, folder, name: folderName(folder), from: 'use' };
}

/** The models that ship with Tandem, those trained here, those of the list, and others in use. */
export function localPlaces(settings: LocalSettings, shipped: string, areRunsRead = true): LocalPlace[] {
  const { agent, secondAgent, simulator, modelFolders, dataFolder } = settings;
  const place = (spec: string, from: LocalPlace['from'] = 'use'): LocalPlace | undefined => {
    const found = localPlace(spec, shipped, (file) => settings.resolve(file));
    return found && { ...found, from };
  };
  const workspace = settings.resolve('.') ?? '';
  const all = [
    ...SHIPPED_MODELS.map((name) =>
      existsSync(path.join(shipped, name)) ? place(name, 'tandem') : undefined,
    ),
    ...modelFolders.map((folder) => place(`local:${folder}`, 'list')),
    ...trainedFolders(areRunsRead ? dataFolder : undefined).map((folder) =>
      place(`local:${within(workspace, folder)}`, 'training'),
    ),
    place(agent),
    place(secondAgent),
    place(simulatorModel(simulator)),
  ];
  const byFolder = new Map<string, LocalPlace>();
  for (const found of all) if (found && !byFolder.has(found.folder)) byFolder.set(found.folder, found);
  return toldApart([...byFolder.values()], withRun);
}

/**
 * Keeps paths of this machine out of the log.
 * @param place a model folder, or a graph in its `onnx/`
 */
export function specAt(place: string, places: readonly LocalPlace[], workspace: string): string {
  const folder = place.endsWith('.onnx') ? path.dirname(path.dirname(place)) : place;
  const known = places.find((one) => one.folder === folder);
  if (known !== undefined) return known.spec;
  const inside = within(workspace, folder);
  return `local:${path.isAbsolute(inside) ? path.basename(folder) : inside}`;
}

/** Appends the end of its run's id, if a run trained it. */
function withRun({ name, folder }: LocalPlace): string {
  if (runName(folder) === undefined) return name;
  const id = path.basename(path.dirname(folder));
  return `${name} (${id.slice(-4)})`;
}

function trainedFolders(dataFolder: string | undefined): string[] {
  if (dataFolder === undefined) return [];
  return ['loops', RUNS].flatMap((kind) => {
    const parent = path.join(dataFolder, kind);
    if (!existsSync(parent)) return [];
    const folders = readdirSync(parent).map((name) => path.join(parent, name, 'model'));
    return folders.filter((folder) => existsSync(path.join(folder, 'onnx'))).sort();
  });
}

/** Relative inside the workspace, to keep paths of this machine out of the log. */
function within(workspace: string, folder: string): string {
  const relative = path.relative(workspace, folder);
  return relative.startsWith('..') || path.isAbsolute(relative) ? folder : relative.replaceAll('\\', '/');
}

/** The folder of a trained model is always `model`, so its run's name is used. */
function folderName(folder: string): string {
  const name = path.basename(folder);
  if (name !== runFiles.model) return name;
  return runName(folder) ?? `${path.basename(path.dirname(folder))}/${name}`;
}

export interface TrainedBy {
  readonly id: string;
  /** The id of a run without a name or that is gone. */
  readonly name: string;
}

/** Also when the run was deleted; undefined where no run trained it. */
export function runOf(model: string): TrainedBy | undefined {
  const run = path.dirname(model);
  const isOfRun = path.basename(model) === runFiles.model;
  if (!isOfRun || (path.basename(path.dirname(run)) !== RUNS && !isRun(run))) return undefined;
  const id = path.basename(run);
  return { id, name: runName(model) ?? id };
}

const isRun = (folder: string): boolean => existsSync(path.join(folder, runFiles.configuration));

/** By model folder, with the modification time of the run's notes. */
const runNames = new Map<string, { readonly at: number | undefined; readonly name: string | undefined }>();

/** Undefined where no run trained it, or the run has no name. */
export function runName(model: string): string | undefined {
  if (path.basename(model) !== runFiles.model) return undefined;
  const run = path.dirname(model);
  const notes = path.join(run, runFiles.notes);
  // Any window may rename a run at any time.
  const at = statSync(notes, { throwIfNoEntry: false })?.mtimeMs;
  const known = runNames.get(model);
  if (known !== undefined && known.at === at) return known.name;
  const name = readName(notes) ?? readName(path.join(run, runFiles.configuration));
  runNames.set(model, { at, name });
  return name;
}

function readName(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { name } = JSON.parse(readTextSync(file, MAX_RECORD_BYTES)) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch (error) {
    // The Runs view reports such a run.
    if (error instanceof SyntaxError || isUnfit(error)) return undefined;
    throw error;
  }
}
