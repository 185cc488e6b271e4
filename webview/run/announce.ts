import { t } from '../language';
import type { RunView } from './protocol';

type Told = Pick<RunView, 'stateLabel' | 'stages' | 'sentence' | 'caution'>;

/** For screen readers: another state, stage or tenth of the stage; undefined when none of these changed. */
export function announcement(before: Told | undefined, now: Told): string | undefined {
  if (before === undefined) return undefined;
  if (before.stateLabel !== now.stateLabel)
    return [now.stateLabel, now.sentence, now.caution].filter((part) => part !== '').join('. ');
  const [was, is] = [before, now].map(({ stages }) => stages.find(({ state }) => state === 'now'));
  if (is === undefined) return undefined;
  const tenth = tenthOf(is.fraction);
  const isSame = was?.name === is.name && tenthOf(was.fraction) === tenth;
  if (isSame) return undefined;
  return tenth === 0 ? is.label : t('{0} {1} %', is.label, 10 * tenth);
}

const tenthOf = (fraction = 0): number => Math.floor(10 * fraction + 1e-9);
