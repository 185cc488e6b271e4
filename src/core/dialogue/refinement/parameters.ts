import { PythonStrings } from '../../task/python/strings';
import { signatureIn } from '../../task/signature';

export interface Parameter {
  readonly name: string;
  /** Its type hint, or nothing. */
  readonly hint: string;
}

/** Those that a call gives by position, defaults included. Undefined if the code does not define the function. */
export function parametersOf(code: string, name: string): readonly Parameter[] | undefined {
  const signature = signatureIn(code, name);
  if (signature === undefined) return undefined;
  const parts = splitAtCommas(signature.slice(signature.indexOf('(') + 1, signature.lastIndexOf(')')));
  const end = parts.findIndex((part) => part.startsWith('*'));
  return (end === -1 ? parts : parts.slice(0, end)).flatMap((part) => {
    const [, word, hint = ''] = /^([\p{L}_][\p{L}\p{N}_]*)\s*(?::([^=]*))?/u.exec(part) ?? [];
    return word === undefined ? [] : [{ name: word, hint: hint.trim() }];
  });
}

/** At those outside of brackets and strings. */
function splitAtCommas(text: string): readonly string[] {
  const strings = new PythonStrings(text);
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at = strings.at(at)?.end ?? at + 1) {
    const character = text[at]!;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== '');
}
