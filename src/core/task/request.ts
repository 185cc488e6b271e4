import type { Task } from './task';

/** Returns the description with uniform spacing: tasks that ask for the same are one task, whatever their ids. */
export const requestOf = ({ description }: Pick<Task, 'description'>): string =>
  description.replace(/\s+/g, ' ').trim();
