/** A text as a quotation. */
export const quoted = (text: string): string => text.replace(/^/gm, '> ');
