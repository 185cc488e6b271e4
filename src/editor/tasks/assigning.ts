import path from 'node:path';
import * as vscode from 'vscode';
import { partsFor } from '../../core/dialogue/packAssignment';
import { Fault } from '../../core/fault';
import { assigning, type Part } from '../../core/trajectory/assignments';
import { MAX_PLAYERS } from '../../core/trajectory/event';
import type { Engines } from '../engines';
import {
  pickOrType,
  type KnownWord,
  pickOne,
  runSteps,
  taking,
  type Given,
  type StepPosition,
} from '../inputSteps';
import { dialogues, withoutLinks } from '../words';
import { choosePack, type Pack, type Packs } from '../packs';

const { t } = vscode.l10n;

export async function assignPack(
  { packs, engines }: { readonly packs: Packs; readonly engines: Engines },
  chosen: Pack | undefined,
): Promise<void> {
  const all = await packs.all();
  const pack = chosen ?? (await choosePack(all, t('Assign Pack')));
  if (pack === undefined) return;
  const engine = engines.of(pack.file);
  const name = path.basename(pack.file);
  refuseSameName(
    pack,
    all.filter(({ file }) => engines.of(file).dataFolder === engine.dataFolder),
  );
  const log = await engine.log();
  const before = log.assigned.get(name) ?? [];
  const played = new Map(log.valuesOf('player').map(({ value, count }) => [value, count]));
  const known = [...new Set([...log.consents.map(({ pseudonym }) => pseudonym), ...played.keys()])].sort();
  let people: readonly string[] = peopleOf(before);
  let perTask = before[0]?.perTask ?? 1;
  let isAsked = false;
  const isAnswered = await runSteps(() => [
    taking(
      (place) => askPeople(pack, people, known, played, place),
      (given) => {
        people = given;
        isAsked = true;
      },
    ),
    ...(isAsked && people.length < 2
      ? []
      : [
          taking(
            (place: StepPosition) => askPerTask(pack, people, perTask, place),
            (given) => (perTask = given),
          ),
        ]),
  ]);
  if (!isAnswered || (people.length === 0 && before.length === 0)) return;
  const now = partsFor(name, people, perTask, before);
  const write = (parts: readonly Part[]): Promise<unknown> =>
    log.appendAll(assigning(name, parts), { durable: true });
  await write(now);
  const undo = t('Undo');
  // A typo would assign tasks to no one.
  const strangers = people.filter((person) => ![...known, ...peopleOf(before)].includes(person));
  const check = t('Pseudonyms not used here yet: {0}. Check the spelling.', strangers.join(', '));
  const said = [assignedSentence(pack, now), ...(strangers.length === 0 ? [] : [check])].join(' ');
  const pressed = await vscode.window.showInformationMessage(withoutLinks(said), undo);
  if (pressed === undo) await write(before);
}

const peopleOf = (parts: readonly Part[]): string[] => parts.map(({ person }) => person);

/** An assignment names a pack by its file name, as dialogues do. @throws {Fault} `editor/pack-name-shared` */
function refuseSameName({ file }: Pack, packs: readonly Pack[]): void {
  const same = packs.find((one) => one.file !== file && path.basename(one.file) === path.basename(file));
  if (same === undefined) return;
  throw new Fault(
    'editor/pack-name-shared',
    t(
      '{0} and {1} have the same file name, by which assignments know a pack. Rename one of them.',
      vscode.workspace.asRelativePath(same.file),
      vscode.workspace.asRelativePath(file),
    ),
  );
}

function askPeople(
  { name }: Pack,
  now: readonly string[],
  known: readonly string[],
  played: ReadonlyMap<string, number>,
  place: StepPosition,
): Promise<Given<readonly string[]>> {
  return pickOrType({
    ...place,
    title: t('Assign {0}', name),
    placeholder: t('Select who is to play it, or type new pseudonyms with commas between them'),
    known: [...new Set([...now, ...known])].map((word): KnownWord => ({
      word,
      description: dialogues(played.get(word) ?? 0, t),
      isPicked: now.includes(word),
    })),
    label: (person) => person,
    unknown: t('not used here yet'),
    refuse: (typed) =>
      typed.length > MAX_PLAYERS ? t('Too many: name at most {0} people.', MAX_PLAYERS) : undefined,
  });
}

async function askPerTask(
  { name, tasks }: Pack,
  people: readonly string[],
  now: number,
  place: StepPosition,
): Promise<Given<number>> {
  const items = people.map((_, index) => {
    const perTask = index + 1;
    return {
      label: perTask === 1 ? t('1 person') : t('{0} people', perTask),
      description: t(
        '{0} dialogues, {1} for each person',
        perTask * tasks.length,
        eachOf(perTask * tasks.length, people.length),
      ),
      perTask,
    };
  });
  const given = await pickOne({
    ...place,
    title: t('Assign {0}', name),
    placeholder: t('How many of the {0} people play each task?', people.length),
    items,
    active: ({ perTask }) => perTask === now,
  });
  return typeof given === 'string' ? given : { value: given.value.perTask };
}

function eachOf(dialogues: number, people: number): string {
  const [least, most] = [Math.floor(dialogues / people), Math.ceil(dialogues / people)];
  return least === most ? String(least) : `${least}–${most}`;
}

function assignedSentence({ name, tasks }: Pack, parts: readonly Part[]): string {
  const [first] = parts;
  if (first === undefined) return t('{0} is no longer assigned to anyone. What was played stays.', name);
  const { perTask, places } = first;
  if (places === 1) return t('{0} is assigned to {1}.', name, first.person);
  return perTask === 1
    ? t('{0} is assigned to {1}, each task to one of them.', name, peopleOf(parts).join(', '))
    : t(
        '{0} is assigned to {1}, each task to {2} of them: {3} tasks for each.',
        ...[name, peopleOf(parts).join(', '), perTask, eachOf(perTask * tasks.length, places)],
      );
}
