import type { Task } from '../../../src/core/task/task';

export const doubling: Task = {
  id: 'doubling',
  description: 'Write a function that doubles. def double(n)',
  reference: 'def double(n):\n    return 2 * n',
  testCases: [
    { name: 'test1', call: 'double(2)' },
    { name: 'test2', call: 'double(0)' },
  ],
  hiddenInformation: 'def double(n):\n    return 2 * n',
};
