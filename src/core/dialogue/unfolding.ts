import { GrowingText, type Range } from '../growingText';
import { AgentReading } from './reading';

/**
 * A message of the agent while it arrives, for a place that can only append: nothing is given out before it is certain to
 * be said. Thoughts and the words that announce an answer never are, and an answer only whole, at the end.
 */
export class Unfolding {
  private reading = new AgentReading();
  private readonly given = new GrowingText();
  /** By its place: how many characters of a text are those that were given out; undefined where one is another. */
  private readonly alike = new Map<number, number | undefined>();

  /** @returns what can be shown now, beyond what was given out before */
  push(piece: string): string {
    this.reading.push(piece);
    // Until then nobody can tell thoughts from message.
    return this.reading.hasOutput ? this.give(this.reading.certain) : '';
  }

  /** The message has to be written anew; what was given out stands. */
  restart(): void {
    this.reading = new AgentReading();
    this.alike.clear();
  }

  /** @returns the rest of what is said, and the answer if the message holds one */
  end(): { readonly rest: string; readonly answer?: string } {
    const { answer } = this.reading.message;
    const rest = this.give(this.reading.spoken);
    return answer === undefined ? { rest } : { rest, answer };
  }

  private give(said: Range | undefined): string {
    const { given, reading } = this;
    if (said === undefined || said.end - said.start <= given.length || !this.isGiven(said.start)) return '';
    const more = reading.text.slice(said.start + given.length, said.end);
    given.push(more);
    this.alike.set(said.start, given.length);
    return more;
  }

  /** Whether all that was given out stands at this place. No character is looked at twice. */
  private isGiven(start: number): boolean {
    const { given, alike, reading } = this;
    const known = alike.has(start) ? alike.get(start) : 0;
    if (known === undefined || known === given.length) return known !== undefined;
    const isSame = reading.text.slice(start + known, start + given.length) === given.slice(known);
    alike.set(start, isSame ? given.length : undefined);
    return isSame;
  }
}
