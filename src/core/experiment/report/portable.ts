import path from 'node:path';

/** What is shown of a place outside of the workspace, whose other parts are nobody's business. */
const ELSEWHERE = '…';

/**
 * A text that may leave this machine: of an absolute path what stands in the workspace, else its last part; of an
 * address neither user, password nor query.
 * @param workspace an absolute folder
 */
export function portable(text: string, workspace: string): string {
  if (isAbsolute(text)) return shownFrom(text, workspace);
  const local = /^(local:|script:)(.+)$/s.exec(text);
  if (local !== null) return `${local[1]!}${portable(local[2]!, workspace)}`;
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//').replaceAll(/(https?:\/\/[^\s?#]*)[?#]\S*/g, '$1');
}

/** The same of everything in a configuration. */
export function portableValue(value: unknown, workspace: string): unknown {
  if (typeof value === 'string') return portable(value, workspace);
  if (Array.isArray(value)) return value.map((one) => portableValue(one, workspace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, portableValue(inside, workspace)]),
  );
}

/** Also one of the other kind of system: a run may have been made there. */
const isAbsolute = (text: string): boolean => path.posix.isAbsolute(text) || path.win32.isAbsolute(text);

function shownFrom(file: string, workspace: string): string {
  const relative = path.relative(workspace, file).replaceAll('\\', '/');
  const isInside = workspace !== '' && relative !== '' && !relative.startsWith('..') && !isAbsolute(relative);
  if (isInside) return relative;
  const last = file.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  return `${ELSEWHERE}/${last}`;
}
