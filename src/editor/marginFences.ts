/** Line endings of CommonMark. */
export const LINE_END = /\r\n?|\n/;

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)/s;
/** Matches only the language after a fence: a line with a `|` would be read as the head of a table first. */
const LANGUAGE = /^[ \t]*[\w+#.-]*/;

/**
 * Puts the code fences in an untrusted speaker's Markdown at the margin, line by line, and drops the rest of their
 * lines. Every reader then sees them as fences, because at the margin they end any open list or quotation. A fence that
 * is indented further does not count, because it may end with its list.
 */
export class MarginFences {
  private open: { readonly mark: string; readonly indent: string } | undefined;

  get mark(): string | undefined {
    return this.open?.mark;
  }

  /** @returns the rewritten line when it is a fence or code in one; otherwise undefined */
  take(line: string): string | undefined {
    const [, indent = '', mark = '', info = ''] = FENCE.exec(line) ?? [];
    const { open } = this;
    if (open !== undefined) {
      if (mark.startsWith(open.mark) && /^[ \t]*$/.test(info)) {
        this.open = undefined;
        return open.mark;
      }
      const code = line.startsWith(open.indent) ? line.slice(open.indent.length) : line.replace(/^ +/, '');
      // Code that would become a fence at the margin keeps its indentation.
      return FENCE.test(code) ? line : code;
    }
    if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return undefined;
    this.open = { mark, indent };
    return mark + LANGUAGE.exec(info)![0];
  }
}
