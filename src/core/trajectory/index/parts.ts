import type { Consent } from '../consent';
import type { EventOf } from '../event';
import { nothingRead, type ReadBytes } from '../segment/known';
import type { Losses } from '../segment/losses';
import { newSequence, type Sequence } from '../segment/sequence';
import { Strings } from './columns';
import { Episodes } from './episodes';
import { Ranges, TaskLines } from './places';

/** A line of the log that cannot be read, or before which lines are missing. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** One sentence. */
  readonly reason: string;
}

/** How far the index has read a segment. */
export interface IndexedSegment extends ReadBytes {
  readonly name: string;
  lines: number;
  /** Lines of another version or of a kind that is not known here; they are kept and passed over. */
  unknown: number;
  readonly sequence: Sequence;
  readonly losses: Losses;
}

/** As `older` of a segment's first line says. */
export type Noted = NonNullable<EventOf<'segment'>['older']>[number];

/** All that the index holds: tables, and what is known of the files that they were read from. */
export interface IndexParts {
  readonly strings: Strings;
  readonly episodes: Episodes;
  readonly ranges: Ranges;
  readonly tasks: TaskLines;
  readonly segments: IndexedSegment[];
  readonly consents: Consent[];
  readonly problems: Problem[];
  /** What was noted of segments without check sums, by their names. */
  readonly older: Record<string, Noted>;
}

export function emptyParts(): IndexParts {
  const strings = new Strings();
  return {
    strings,
    episodes: new Episodes(strings),
    ranges: new Ranges(),
    tasks: new TaskLines(),
    segments: [],
    consents: [],
    problems: [],
    older: {},
  };
}

export function emptySegment(name: string): IndexedSegment {
  return { name, ...nothingRead(), lines: 0, unknown: 0, sequence: newSequence(), losses: {} };
}
