/** As CommonMark ends lines. */
export const LINE_END = /\r\n?|\n/;

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)/s;
/** What stands behind a fence, as far as it names a language: a line with a `|` would be the head of a table first. */
const LANGUAGE = /^[ \t]*[\w+#.-]*/;

/**
 * The code fences in Markdown of an untrusted speaker, line by line, put at the margin and without what else might stand
 * in their lines. Whoever reads it takes them for fences then: there they end whatever list or quotation was begun. A fence
 * further in is none, because it may end where that does.
 */
export class MarginFences {
  private open: { readonly mark: string; readonly indent: string } | undefined;

  /** What ends the code that is open. */
  get mark(): string | undefined {
    return this.open?.mark;
  }

  /** @returns the line as it is to stand, when it is a fence or code in one */
  take(line: string): string | undefined {
    const [, indent = '', mark = '', info = ''] = FENCE.exec(line) ?? [];
    const { open } = this;
    if (open !== undefined) {
      if (mark.startsWith(open.mark) && /^[ \t]*$/.test(info)) {
        this.open = undefined;
        return open.mark;
      }
      const code = line.startsWith(open.indent) ? line.slice(open.indent.length) : line.replace(/^ +/, '');
      // What ends nothing where it stands must not do so at the margin.
      return FENCE.test(code) ? line : code;
    }
    if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return undefined;
    this.open = { mark, indent };
    return mark + LANGUAGE.exec(info)![0];
  }
}
