import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { joined, curvesCsv } from '../../../../webview/chart/curves';
import { csv } from '../../../../webview/ui/csv';

// The toolkit needs a browser.
vi.mock('@vscode/webview-ui-toolkit', () => import('../toolkit'));

vi.stubGlobal('acquireVsCodeApi', () => ({}));
afterAll(() => void vi.unstubAllGlobals());

// The import is dynamic, because views are another TypeScript program with browser types.
const view = async (file: string) =>
  (await import(path.resolve('webview', file))) as Record<string, (shown: unknown) => string>;
const { statisticsCsv } = await view('statistics/statistics.ts');
const { peopleCsv } = await view('people/people.ts');
const { gapCsv } = await view('simulator/simulator.ts');

const interval = { low: 0.2, high: 0.6 };

it('a table has numbers with a point, empty cells, and quotes where a text needs them', () => {
  const rows = [
    ['a, "b"\nc', 0.5],
    ['Größe', undefined],
    ['small', -1e-7],
  ] as const;
  expect(csv(['name', 'value'], rows)).toBe('name,value\r\n"a, ""b""\nc",0.5\r\nGröße,\r\nsmall,-1e-7\r\n');
});

it('a table has no text that a spreadsheet would compute', () => {
  expect(csv(['run'], [['=HYPERLINK("http://x")'], ['+1'], ['-1'], ['@a'], ['\ta']])).toBe(
    `run\r\n"'=HYPERLINK(""http://x"")"\r\n'+1\r\n'-1\r\n'@a\r\n'\ta\r\n`,
  );
});

it('curves have a row for each point of each run, with the number of steps that it averages', () => {
  const curve = (valuesPerPoint: number, ...points: number[]) => ({
    points: joined([], { from: 0, points }),
    valuesPerPoint,
  });
  const written = curvesCsv('critic', 'margin', [
    { run: 'first try', training: curve(2, 2, 61.5, 0.5, 0.25, 0.75), heldOut: curve(1, 0, 4, -1, -1, -1) },
    { run: '=second', training: curve(1, 1, 7, 3, 3, 3), heldOut: curve(1) },
  ]);
  expect(written.split('\r\n')).toEqual([
    'run,stage,metric,unit,measured_on,step,training_seconds,steps_averaged,mean,lowest,highest',
    'first try,critic,margin,nats,training,2,61.5,2,0.5,0.25,0.75',
    'first try,critic,margin,nats,held-out,0,4,1,-1,-1,-1',
    "'=second,critic,margin,nats,training,1,7,1,3,3,3",
    '',
  ]);
});

const columnsOf = (...columns: readonly (readonly [name: string, unit: string])[]) => ({
  ...{ name: '', head: '' },
  columns: columns.map(([name, unit]) => ({ name, title: name, unit })),
});

it('statistics have a row for each value, with its interval and the number of dialogues', () => {
  const columns = columnsOf(
    ['dialogues', 'count'],
    ['graded', 'count'],
    ['success', 'fraction'],
    ['turns', 'turns'],
  );
  const nothing = { ...columns, rows: [] };
  const row = (name: string, dialogues: number, graded: number, ...figures: readonly (object | null)[]) => ({
    name,
    cells: [{ value: dialogues }, { value: graded }, ...figures],
  });
  const written = statisticsCsv!({
    unit: 'day',
    periods: { ...columns, rows: [row('8 Mar', 3, 2, { value: 0.5 }, null)] },
    groups: {
      agent: { ...columns, rows: [row('mini', 12, 10, { value: 0.4, interval }, { value: 3.5 })] },
      ...{ pack: nothing, collaborator: nothing },
    },
  });
  expect(written.split('\r\n')).toEqual([
    'by,name,measure,unit,value,low,high,dialogues,graded',
    'day,8 Mar,success,fraction,0.5,,,3,2',
    'agent,mini,success,fraction,0.4,0.2,0.6,12,10',
    'agent,mini,turns,turns,3.5,,,12,10',
    '',
  ]);
});

it('the figures of people are a row each, with alpha at the end, and nothing of what is not known', () => {
  const people = {
    ...columnsOf(['dialogues', 'count'], ['success', 'fraction'], ['stars', '']),
    rows: [
      { name: 'ada', cells: [{ value: 3 }, { value: 0.5, interval, of: 2 }, null] },
      { name: 'kim', cells: [{ value: 0 }, null, { value: 4, of: 1 }] },
    ],
  };
  const alpha = {
    ...columnsOf(['alpha', '']),
    rows: [
      { name: 'Stars', cells: [{ value: 0.25, interval, of: 6 }] },
      { name: 'Thumbs', cells: [null] },
      { name: 'Choices', cells: [null] },
    ],
  };
  expect(peopleCsv!({ people, alpha }).split('\r\n')).toEqual([
    'person,figure,value,low,high,of',
    'ada,success,0.5,0.2,0.6,2',
    'kim,stars,4,,,1',
    ',alpha_stars,0.25,0.2,0.6,6',
    '',
  ]);
});

it('people and a simulator have a row for each figure, and the difference at the end', () => {
  const columns = columnsOf(['words', 'words'], ['success', 'fraction']);
  const row = (name: string, ...cells: readonly (object | null)[]) => ({ name, cells });
  const tables = [
    {
      ...columns,
      rows: [row('people', { value: 4, of: 8 }, null), row('lab', { value: 9, interval, of: 8 }, null)],
    },
    { ...columns, rows: [row('lab − people', { value: 5, of: 8 }, null)] },
  ];
  expect(gapCsv!({ tables }).split('\r\n')).toEqual([
    'replies_by,figure,value,low,high,of',
    'people,words,4,,,8',
    'simulator,words,9,0.2,0.6,8',
    'difference,words,5,,,8',
    '',
  ]);
});
