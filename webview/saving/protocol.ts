/** A file that a page makes; the extension host asks the person where to save it. */
export interface PageFile {
  /** Proposed name in words, without the ending: `first try, Loss of critic`. */
  readonly name: string;
  readonly kind: 'csv' | 'png';
  /** Text of a table, or a picture in base64. */
  readonly content: string;
}

export interface SaveMessage {
  readonly type: 'save';
  readonly file: PageFile;
}
