import { expect, it } from 'vitest';
import type { ToWebview } from '../../../webview/people/protocol';
import { peopleAsCsv } from '../../../webview/people/table';

it('the figures of people are a row each, with alpha at the end, and nothing of what is not known', () => {
  const interval = { low: 0.1, high: 0.9 };
  const shown: Pick<ToWebview, 'people' | 'alpha'> = {
    people: [
      { name: '=ada', dialogues: 3, tasks: 2, success: { value: 0.5, interval } },
      {
        name: 'kim',
        dialogues: 0,
        tasks: 0,
        stars: { value: 4, of: 1 },
        first: { value: 1, interval, of: 7 },
      },
    ],
    alpha: { stars: { alpha: 0.25, interval, units: 6 }, thumbs: { units: 0 }, choices: { units: 2 } },
  };
  expect(peopleAsCsv(shown).split('\r\n')).toEqual([
    'person,figure,value,low,high,of',
    "'=ada,success,0.5,0.1,0.9,2",
    'kim,stars,4,,,1',
    'kim,first_shown,1,0.1,0.9,7',
    ',alpha_stars,0.25,0.1,0.9,6',
    '',
  ]);
});
