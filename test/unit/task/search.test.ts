import { describe, expect, it } from 'vitest';
import { excerpt, searchTasks } from '../../../src/core/task/search';

describe('The search for a task', () => {
  const tasks = [
    { id: 'a1', title: 'Hotel stay', description: 'The price of a night. Parcels are extra.' },
    { id: 'b2', title: 'Parcel surcharge', description: 'What a heavy box costs in zone 3.' },
    { id: 'parcel-3', title: 'Box', description: 'Anything.' },
  ];

  const titles = (query: string, limit = 10): string[] =>
    searchTasks(tasks, query, limit).tasks.map(({ title }) => title);

  it('finds words in any case, in the title before the description and the id', () => {
    expect(titles('PARCEL')).toEqual(['Parcel surcharge', 'Hotel stay', 'Box']);
  });

  it('wants every word, wherever each of them stands', () => {
    expect(titles('surcharge zone')).toEqual(['Parcel surcharge']);
    expect(titles('surcharge night')).toEqual([]);
  });

  it('finds everything while nothing is typed, and says how many there are beyond its limit', () => {
    expect(titles(' ')).toHaveLength(3);
    expect(searchTasks(tasks, '', 2)).toMatchObject({ total: 3 });
    expect(titles('', 2)).toEqual(['Hotel stay', 'Parcel surcharge']);
  });

  it('shows the place that was found, on one line', () => {
    const description = `${'Before it much is said. '.repeat(20)}\nThen comes the surcharge. ${'And more. '.repeat(40)}`;
    const shown = excerpt(description, 'surcharge');
    expect(shown).toMatch(/^….*Then comes the surcharge\. .*…$/);
    expect(excerpt('Short.', 'nothing')).toBe('Short.');
  });
});
