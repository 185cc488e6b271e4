import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { joined } from '../../../../webview/chart/curves';
import { curvesCsv } from '../../../../webview/chart/curvesCsv';
import { csv } from '../../../../webview/saving/csv';

// The toolkit needs a browser.
vi.mock('@vscode/webview-ui-toolkit', () => import('../toolkit'));

// The import is dynamic, because views are another TypeScript program with browser types.
const { statisticsCsv } = (await import(path.resolve('webview/statistics/measures.ts'))) as {
  readonly statisticsCsv: (shown: unknown) => string;
};

describe('a table as CSV', () => {
  it('has numbers with a point, empty cells, and quotes where a text needs them', () => {
    expect(
      csv(
        ['name', 'value'],
        [
          ['a, "b"\nc', 0.5],
          ['Größe', undefined],
        ],
      ),
    ).toBe('name,value\r\n"a, ""b""\nc",0.5\r\nGröße,\r\n');
    expect(csv(['x'], [[-1], [1e-7]])).toBe('x\r\n-1\r\n1e-7\r\n');
  });

  it('has no text that a spreadsheet would compute', () => {
    expect(csv(['run'], [['=HYPERLINK("http://x")'], ['+1'], ['-1'], ['@a'], ['\ta']])).toBe(
      `run\r\n"'=HYPERLINK(""http://x"")"\r\n'+1\r\n'-1\r\n'@a\r\n'\ta\r\n`,
    );
  });
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

it('statistics have a row for each value, with its interval and the number of dialogues', () => {
  const interval = { low: 0.2, high: 0.6 };
  const written = statisticsCsv({
    unit: 'day',
    periods: [{ name: '8 Mar', dialogues: 3, graded: 2, success: { value: 0.5 } }],
    groups: {
      agent: [
        {
          name: 'gpt, mini',
          dialogues: 12,
          graded: 10,
          success: { value: 0.4, interval },
          turns: { value: 3.5 },
        },
      ],
      pack: [],
      collaborator: [],
    },
  });
  expect(written.split('\r\n')).toEqual([
    'by,name,measure,unit,value,low,high,dialogues,graded',
    'day,8 Mar,success,fraction,0.5,,,3,2',
    'agent,"gpt, mini",success,fraction,0.4,0.2,0.6,12,10',
    'agent,"gpt, mini",turns,turns,3.5,,,12,10',
    '',
  ]);
});
