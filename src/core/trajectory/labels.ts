import type { NewEvent } from './event';
import { tagsOf, titleOf } from './opinions';
import type { Trajectory } from './trajectory';

/** Empty texts for none. */
export interface OwnLabel {
  readonly title: string;
  readonly tags: readonly string[];
  readonly note: string;
}

export function ownLabel({ labels = [] }: Pick<Trajectory, 'labels'>, by: string): OwnLabel {
  const own = labels.find((label) => label.by === by);
  if (own === undefined) return { title: '', tags: [], note: '' };
  return { title: titleOf([own]) ?? '', tags: tagsOf([own]), note: own.note ?? '' };
}

/**
 * Returns the events that change a person's label, to be logged together; none if nothing changes. A label that repeats
 * its writer's title gives no title. So if the person gives it again, after another title of someone else, the first
 * event takes it back.
 * @param change returns the parts that the person gives
 */
export function relabel(
  { id, labels = [] }: Pick<Trajectory, 'id' | 'labels'>,
  by: string,
  change: (before: OwnLabel) => Partial<OwnLabel>,
): NewEvent[] {
  const before = ownLabel({ labels }, by);
  const given = change(before);
  const after = { ...before, ...given };
  const { title, tags, note } = after;
  const isTitleAgain = title !== '' && given.title === before.title && titleOf(labels) !== title;
  if (isTitleAgain) return [labelEvent(id, by, { ...after, title: '' }), labelEvent(id, by, after)];
  const isSame = title === before.title && note === before.note && tags.join() === before.tags.join();
  return isSame ? [] : [labelEvent(id, by, after)];
}

const labelEvent = (episode: string, by: string, { title, tags, note }: OwnLabel): NewEvent => ({
  event: 'label',
  episode,
  ...(title !== '' && { title }),
  ...(tags.length > 0 && { tags }),
  ...(note !== '' && { note }),
  by,
});
