import { expect, it } from 'vitest';
import { durationWords, timeLabels } from '../../../../webview/chart/axis';

it('a duration is written without its empty parts, and below a minute with a tenth', () => {
  const written = [0, 0.46, 9.96, 45.5, 59.96, 60.4, 125, 3600, 7530, 90_000].map(durationWords);
  expect(written).toEqual([
    ...['0 s', '0.5 s', '10 s', '45.5 s', '1 min', '1 min', '2 min 5 s', '1 h', '2 h 5 min 30 s', '25 h'],
  ]);
});

it('a time axis has labels at round times only, seven at most', () => {
  const labels = (from: number, to: number): string[] => timeLabels({ from, to }).map(durationWords);
  expect(labels(0, 3.2)).toEqual(['0 s', '1 s', '2 s', '3 s']);
  expect(labels(44.2, 47.1)).toEqual(['44.5 s', '45 s', '45.5 s', '46 s', '46.5 s', '47 s']);
  expect(labels(0, 36_000)).toEqual(['0 s', '2 h', '4 h', '6 h', '8 h', '10 h']);
  expect(labels(0, 800_000)).toEqual(['0 s', '48 h', '96 h', '144 h', '192 h']);
  expect(labels(5, 5)).toEqual(['5 s']);
});
