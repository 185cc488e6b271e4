import type { Finding } from './scanner';

/** One line: place, author, kind, and the masked text. */
export function findingInWords(finding: Finding): string {
  const { row, episode, what, excerpt } = finding;
  const where = [...(row === undefined ? [] : [`row ${row}`]), `dialogue ${episode}`, placeOf(finding)];
  return `${where.join(', ')}: ${what}: ${excerpt}`;
}

/** E.g. `turn 2, ada`. */
export function placeOf({ turn, author, by }: Finding): string {
  switch (author) {
    case 'task':
      return `in the task ${by}`;
    case 'consent':
      return `pseudonym or purpose of ${by}`;
    case 'other':
      return 'outside of the turns';
    case 'simulator':
      return `turn ${turn}, the simulator ${by}`.trimEnd();
    case 'agent':
      return `turn ${turn}, the agent ${by}`;
    default:
      return `turn ${turn}, ${by}`;
  }
}
