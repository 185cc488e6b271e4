import { parseAgentMessage } from './protocol';

/**
 * A message of the agent while it arrives, for a place that can only append: nothing is given out before it is certain to
 * be said. Thoughts and the words that announce an answer never are, and an answer only whole, at the end.
 */
export class Unfolding {
  private text = '';
  private given = '';

  /** @returns what can be shown now, beyond what was given out before */
  push(piece: string): string {
    this.text += piece;
    // Until then nobody can tell thoughts from message.
    if (!this.text.includes('OUTPUT:')) return '';
    const { visible, answer } = parseAgentMessage(this.text);
    if (answer !== undefined) return this.give(beforeAnswer(visible, answer));
    const isWhole = this.text.endsWith('\n') && visible !== '';
    // The last line may hold the beginning of a marker, which must not be shown before it is known to be none.
    return this.give(isWhole ? `${visible}\n` : visible.slice(0, visible.lastIndexOf('\n') + 1));
  }

  /** The message has to be written anew; what was given out stands. */
  restart(): void {
    this.text = '';
  }

  /** @returns the rest of what is said, and the answer if the message holds one */
  end(): { readonly rest: string; readonly answer?: string } {
    const { visible, answer } = parseAgentMessage(this.text);
    if (answer === undefined) return { rest: this.give(visible) };
    return { rest: this.give(beforeAnswer(visible, answer)), answer };
  }

  private give(said: string): string {
    if (!said.startsWith(this.given)) return '';
    const more = said.slice(this.given.length);
    this.given = said;
    return more;
  }
}

function beforeAnswer(visible: string, answer: string): string {
  return visible.endsWith(answer) ? visible.slice(0, visible.length - answer.length).trimEnd() : visible;
}
