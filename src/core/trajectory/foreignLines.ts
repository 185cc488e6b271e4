import type { Consents } from './consent';
import type { Erased } from './erased';
import type { EventOf, LogEvent } from './event';
import { latestTime } from './segment/line';
import { opinionOf, OPINIONS, withPeople, type Mentions } from './people';

/** Clocks of people's machines differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** Numbers outside of these no Tandem writes: they would spoil sums and the order of turns. */
const RANGES: readonly (readonly [field: string, least: number, most: number])[] = [
  ['turn', 0, 100_000],
  ['milliseconds', 0, 1e12],
  ['fraction', 0, 1],
  ['reward', -1e6, 1e6],
  ['advantage', -1e6, 1e6],
  ['promptTokens', 0, 1e12],
  ['completionTokens', 0, 1e12],
];

export interface ForeignLog {
  /** Of the people of the other folder, by the names that they have there. */
  readonly people: ReadonlyMap<string, string>;
  /** What the log has of its own, and from other folders. */
  readonly here: Mentions;
  /** Dialogues of the other folder that are here or coming. */
  readonly started: ReadonlySet<string>;
  /** Dialogues of the other folder whose lines were lost there, or may have been. */
  readonly incomplete: ReadonlySet<string>;
  /** As they count there. */
  readonly consents: Consents;
  /** What was erased here. */
  readonly erased: Erased;
}

/** Makes lines of another data folder into lines of this one. */
export class ForeignLines {
  /**
   * Number of lines by kind; `unreadable` and `unknown` (written by a newer Tandem) are kinds, too, and so are `pictures`
   * that lines name.
   */
  readonly leftOut: Record<string, number> = {};
  limitedTimes = 0;
  /** Dialogues of which lines were left out. */
  private readonly cut = new Set<string>();
  private readonly now = Date.now();

  constructor(private readonly foreign: ForeignLog) {}

  of(event: LogEvent): LogEvent | undefined {
    const { erased, people } = this.foreign;
    const isErased = erased.hasEvent(event);
    const taken = !isErased && isPossible(event) ? this.taken(event) : undefined;
    if (taken === undefined) {
      this.leaveOut(event.event);
      if ('episode' in event && !isErased) this.cut.add(event.episode);
      return undefined;
    }
    const named = this.dated(withPeople(taken, (name) => people.get(name) ?? name));
    if (!this.isSaidHere(named) && !erased.hasEvent(named)) return named;
    this.leaveOut(event.event);
    return undefined;
  }

  /** True for an opinion in the place of which the same person has one here. */
  isSaidHere(event: LogEvent): boolean {
    const opinion = opinionOf(event);
    return opinion !== undefined && this.foreign.here.opinions.has(opinion);
  }

  leaveOut(kind: string, count = 1): void {
    if (count > 0) this.leftOut[kind] = (this.leftOut[kind] ?? 0) + count;
  }

  /** Lost lines may have deleted it, or marked a leak in it. */
  lossOf(episode: string): LogEvent | undefined {
    if (!this.foreign.incomplete.has(episode) && !this.cut.has(episode)) return undefined;
    const at = new Date(this.now).toISOString();
    const reason =
      'Lines of this dialogue were lost, or may be, in the data folder that it was imported from.';
    return { version: 1, event: 'lines-lost', at, episode, reason };
  }

  private taken(event: LogEvent): LogEvent | undefined {
    const { here, started, consents } = this.foreign;
    if (event.event === 'assignment') return here.packs.has(event.pack) ? undefined : event;
    if (event.event === 'consent') return cautious(event, consents);
    if (!('episode' in event)) return event;
    if (!here.played.has(event.episode)) return started.has(event.episode) ? event : undefined;
    if (!OPINIONS.has(event.event)) return undefined;
    return event.event === 'label' ? withoutTitle(event) : event;
  }

  private dated(event: LogEvent): LogEvent {
    const dated = { ...event, at: this.limited(event.at) };
    return dated.event === 'judgement' ? { ...dated, shown: this.limited(dated.shown, false) } : dated;
  }

  private limited(at: string, isCounted = true): string {
    const time = Date.parse(at);
    if (Number.isNaN(time)) return at;
    const isAhead = time > latestTime(MAX_CLOCK_DIFFERENCE_MS);
    if (isAhead && isCounted) this.limitedTimes += 1;
    return new Date(isAhead ? this.now : time).toISOString();
  }
}

/** Where it is in doubt, with the level that counts there, and without what it says of single signals. */
function cautious(event: EventOf<'consent'>, consents: Consents): LogEvent {
  return consents.isDoubtful(event) ? { ...event, level: 'local', signals: undefined } : event;
}

/** The last title of anyone would stand in place of the one that the dialogue has here. */
function withoutTitle({ title, ...label }: EventOf<'label'>): LogEvent | undefined {
  return title === undefined || label.note !== undefined || label.tags !== undefined ? label : undefined;
}

function isPossible(event: LogEvent): boolean {
  const messages: readonly object[] = event.event === 'candidates' ? event.candidates : [event];
  const usages = messages.flatMap((message) => ('usage' in message ? [message.usage] : []));
  const parts = [event, ...(event.event === 'grade' ? [event.grade] : []), ...usages];
  return parts.every((part) => {
    const fields = (part ?? {}) as Readonly<Record<string, unknown>>;
    return RANGES.every(([field, least, most]) => {
      const value = fields[field];
      return typeof value !== 'number' || (value >= least && value <= most);
    });
  });
}
