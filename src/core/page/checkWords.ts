import type { PageCheck } from '../pageCheck';
import type { CheckResult } from './checks';
import { colorName } from './color';
import type { Color } from './outline';

/**
 * What a person asks for when a check fails. The sentence says how it should be, not how it is, so that one sentence
 * always asks for the same change.
 */
export function checkInWords({ check, isThere }: CheckResult): string {
  const { name, where, equals } = check;
  if (!isThere) return `I do not see the ${name} (${where}).`;
  switch (check.property) {
    case 'text':
      return `The ${name} should say “${equals}”.`;
    case 'background':
      return `The background of the ${name} should be ${color(equals)}.`;
    case 'color':
      return `The letters of the ${name} should be ${color(equals)}.`;
    case 'alignment':
      return `The ${name} should be ${ALIGNMENTS[equals]}.`;
    case 'size':
      return `The letters of the ${name} should have ${equals} pixels.`;
    case 'columns':
      return `The ${name} should have ${equals} column${equals === '1' ? '' : 's'}.`;
    case 'corners':
      return `The corners of the ${name} should have a radius of ${equals} pixels.`;
    case 'side':
      return `The ${name} should stand on the ${equals}.`;
    case 'content':
      return `The ${name} should have ${equals === 'text' ? 'text alone' : `a ${equals}`}.`;
  }
}

const ALIGNMENTS: Readonly<Record<string, string>> = {
  left: 'aligned to the left',
  center: 'centered',
  right: 'aligned to the right',
  justify: 'justified',
};

const color = (value: PageCheck['equals']): string => {
  const channels = [1, 3, 5].map((at) => Number.parseInt(value.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return `${colorName(channels satisfies Color)} (${value})`;
};
