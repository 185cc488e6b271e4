import { isTrained, type Method, type Setting } from './methods';
import { comparisons, type Plan } from './plan';
import { rowKey, type Cell, type Player } from './cells';
import { successesOf, type Row, type Rows } from './rows';
import type { Surroundings } from './surroundings';

/** Result of one setting on the development split. */
interface Tried {
  readonly setting: Setting;
  /** Mean success for each temperature of the plan, and for each seed of the choice. */
  readonly at: readonly {
    readonly temperature: number;
    readonly success: number;
    readonly bySeed: readonly number[];
  }[];
}

/** Setting and temperature with the highest success on the development split. */
export interface Chosen {
  readonly setting: Setting;
  readonly temperature: number;
  readonly success: number;
}

export interface Choice {
  readonly method: Method;
  readonly tried: readonly Tried[];
  /** Undefined until every setting has been played with every seed of the choice. */
  readonly chosen: Chosen | undefined;
}

export type Choices = ReadonlyMap<string, Choice>;

export const settingsOf = (method: Method, plan: Plan): readonly Setting[] =>
  method.settings.slice(0, plan.settings);

/** Chooses for each method from the rows: first for trained ones, which agents use. Returned in the plan's order. */
export function choicesOf(rows: Rows, to: Surroundings): Choices {
  const choices = new Map<string, Choice>();
  for (const method of [...to.methods].sort((a, b) => Number(!isTrained(a)) - Number(!isTrained(b)))) {
    choices.set(method.name, choiceOf(method, rows, choices, to));
  }
  return new Map(to.methods.map(({ name }) => [name, choices.get(name)!]));
}

function choiceOf(method: Method, rows: Rows, choices: Choices, to: Surroundings): Choice {
  const { plan } = to;
  const settings = settingsOf(method, plan);
  const tried = settings.flatMap((setting): Tried[] => {
    const at = plan.temperatures.flatMap((temperature) => {
      const found = plan.choiceSeeds.map((seed) => {
        const player = playerOf(method, setting, seed, choices);
        return player && rows.get(rowKey({ player, split: 'development' }, temperature, to));
      });
      const whole = found.filter((row) => row !== undefined);
      const bySeed = whole.map((row) => mean(successesOf(row)));
      return whole.length < found.length ? [] : [{ temperature, bySeed, success: mean(bySeed) }];
    });
    return at.length < plan.temperatures.length ? [] : [{ setting, at }];
  });
  return { method, tried, chosen: tried.length < settings.length ? undefined : bestOf(tried) };
}

/** The first one of equals. */
function bestOf(tried: readonly Tried[]): Chosen {
  const all = tried.flatMap(({ setting, at }) => at.map((one) => ({ ...one, setting })));
  const { setting, temperature, success } = all.reduce((best, one) =>
    one.success > best.success ? one : best,
  );
  return { setting, temperature, success };
}

/** The temperature at which a setting, chosen or not, did best; undefined until it has been played. */
export const temperatureOf = ({ tried }: Choice, setting: string): number | undefined => {
  const found = tried.filter((one) => one.setting.name === setting);
  return found.length === 0 ? undefined : bestOf(found).temperature;
};

/** Undefined until the settings of the methods that an agent uses are chosen. */
export function playerOf(
  method: Method,
  setting: Setting,
  seed: number,
  choices: Choices,
): Player | undefined {
  if (isTrained(method)) return { method, setting, seed };
  const uses = method.uses.flatMap((name) => {
    const { method: used, chosen } = choices.get(name)!;
    return chosen === undefined || !isTrained(used) ? [] : [{ method: used, setting: chosen.setting, seed }];
  });
  return uses.length < method.uses.length ? undefined : { method, setting, seed, uses };
}

/** Names of the new methods with all seeds; undefined until every new method is chosen. */
export function bestNew(choices: Choices, { bestNew: count }: Plan): string[] | undefined {
  const all = [...choices.values()].filter(({ method }) => method.role === 'new');
  if (all.some(({ chosen }) => chosen === undefined)) return undefined;
  return all
    .toSorted((a, b) => b.chosen!.success - a.chosen!.success)
    .slice(0, count)
    .map(({ method }) => method.name);
}

/** A line of the table: one method with one setting, over training seeds. */
export interface Arm {
  readonly method: Method;
  readonly setting: Setting;
  /** The temperature chosen on the development split. */
  readonly temperature: number;
  readonly seeds: readonly number[];
}

/** The arms of the main table that can be named by now. */
export function mainArms(choices: Choices, plan: Plan): Arm[] {
  const best = bestNew(choices, plan);
  return [...choices.values()].flatMap(({ method, chosen }) => {
    if (chosen === undefined) return [];
    const hasAll = method.role === 'anchor' || best?.includes(method.name) === true;
    const seeds = hasAll ? plan.seeds : plan.seeds.slice(0, plan.fewSeeds);
    return [{ method, setting: chosen.setting, temperature: chosen.temperature, seeds }];
  });
}

/** The arms of the ablation at equal settings that can be named by now. */
export function equalArms(choices: Choices, plan: Plan): Arm[] {
  if (!plan.decides) return [];
  const { setting: name, methods } = comparisons.equal;
  return methods.flatMap((wanted) => {
    const choice = choices.get(wanted);
    const temperature = choice && temperatureOf(choice, name);
    const setting = choice?.method.settings.find((one) => one.name === name);
    if (choice?.chosen === undefined || temperature === undefined || setting === undefined) return [];
    return [{ method: choice.method, setting, temperature, seeds: plan.seeds.slice(0, plan.fewSeeds) }];
  });
}

/** The test cells of an arm, one for each seed. */
export const cellsOf = ({ method, setting, seeds }: Arm, choices: Choices): Cell[] =>
  seeds.map((seed) => ({ player: playerOf(method, setting, seed, choices)!, split: 'test' }));

/** Finished rows of an arm by seed and temperature. */
export type ArmRows = ReadonlyMap<number, ReadonlyMap<number, Row>>;

export function rowsOf(arm: Arm, choices: Choices, rows: Rows, to: Surroundings): ArmRows {
  return new Map(
    cellsOf(arm, choices).map((cell) => {
      const found = to.plan.temperatures.flatMap((temperature) => {
        const row = rows.get(rowKey(cell, temperature, to));
        return row === undefined ? [] : [[temperature, row] as const];
      });
      return [cell.player.seed, new Map(found)];
    }),
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
