/** In pixels from the end; there the transcript follows new text. */
const NEAR_END = 48;

/** Keeps the newest message in sight, or the headline of the grade, until a person scrolls away from it. */
export class EndFollower {
  isFollowing = true;
  /** `scrollTop` of the transcript when it last moved, to tell a person's scrolling from a change of layout. */
  private scrolledTo = 0;
  private observed: Element | undefined;

  constructor(
    private readonly page: Element,
    /** False while the page is read from its beginning. */
    private readonly hasBegun: () => boolean,
  ) {}

  /** To be called after each drawing. The transcript grows after it, and the composer takes room from it. */
  observe(): void {
    const main = this.page.querySelector('main');
    const column = main?.querySelector(':scope > .column');
    if (!main || !column || column === this.observed) return;
    this.observed = column;
    const observer = new ResizeObserver(() => this.follow());
    observer.observe(main);
    observer.observe(column);
    main.addEventListener('scroll', () => this.scrolled(main));
    for (const used of ['wheel', 'pointerdown', 'keydown']) {
      main.addEventListener(used, () => this.reads(), { passive: true });
    }
  }

  follow(): void {
    const main = this.page.querySelector('main');
    if (main === null || !this.isFollowing || !this.hasBegun()) return;
    const { grade } = this;
    // Show the headline of a grade at the top, because a long table is read from there.
    if (grade === null) main.scrollTop = main.scrollHeight;
    else main.scrollTop += grade.getBoundingClientRect().top - main.getBoundingClientRect().top;
    this.scrolledTo = main.scrollTop;
  }

  /** Text that arrives moves the end away: only a person moves the transcript up. */
  private scrolled(main: Element): void {
    if (isAtEnd(main)) this.isFollowing ||= this.grade === null;
    else if (main.scrollTop < this.scrolledTo) this.isFollowing = false;
    this.scrolledTo = main.scrollTop;
  }

  /** A test that a person opens in a grade stays where it is. */
  private reads(): void {
    if (this.grade !== null) this.isFollowing = false;
  }

  private get grade(): Element | null {
    return this.page.querySelector('tandem-grade');
  }
}

function isAtEnd(main: Element): boolean {
  return main.scrollHeight - main.scrollTop - main.clientHeight < NEAR_END;
}
