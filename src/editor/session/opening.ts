/** What is being opened: whoever asks for the same thing meanwhile, as by a double click, gets the same panel. */
export class Opening<T> {
  private readonly begun = new Map<string, Promise<T>>();

  /** @param key tells things apart */
  once(key: string, open: () => Promise<T>): Promise<T> {
    const there = this.begun.get(key);
    if (there !== undefined) return there;
    const opening = open().finally(() => this.begun.delete(key));
    this.begun.set(key, opening);
    return opening;
  }
}
