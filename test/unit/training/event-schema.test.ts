import { expect, it } from 'vitest';
import * as z from 'zod';
import declared from '../../../media/events.schema.json';
import { eventSchemas } from '../../../src/core/training/events';

/** The part of JSON Schema by which the trainer's declaration is compared with what Tandem reads. */
interface Node {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Node;
}

const targets: Readonly<Record<string, Readonly<Record<string, Node>>>> = {
  $defs: declared.$defs,
  figures: declared.figures,
};

function resolved(node: Node): Node {
  const [, place, name] = node.$ref?.split('/') ?? [];
  return place === undefined || name === undefined ? node : targets[place]![name]!;
}

/** Types, and values in place of them. */
function kinds(node: Node): string[] {
  const alternatives = node.anyOf ?? node.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((each) => kinds(resolved(each)));
  const values = node.enum ?? (node.const === undefined ? undefined : [node.const]);
  if (values !== undefined) return values.map((value) => JSON.stringify(value));
  return [node.type ?? 'anything'].flat();
}

const byKind = (events: readonly Node[]): Record<string, Node> =>
  Object.fromEntries(
    events.map((event) => [String(resolved(event).properties?.event?.const), resolved(event)] as const),
  );

/** Expects that what is read is declared, is always there where the reader needs it, and is of a type that is read. */
function expectReadable(read: Node, written: Node, where: string): void {
  for (const [name, wanted] of Object.entries(read.properties ?? {})) {
    const here = `${where}.${name}`;
    const given = written.properties?.[name] && resolved(written.properties[name]);
    expect(given, `${here} is declared`).toBeDefined();
    if (read.required?.includes(name) === true)
      expect(written.required, `${here} is always there`).toContain(name);
    const accepted = kinds(wanted);
    const wider = new Set([...accepted, ...(accepted.includes('number') ? ['integer'] : [])]);
    for (const kind of kinds(given!)) {
      // A fixed version is a whole number, and the name of a kind a text.
      const general = kind.startsWith('"') ? 'string' : /^\d+$/.test(kind) ? 'integer' : kind;
      const isRead = wider.has(kind) || wider.has(general);
      expect(isRead, `${here}: ${kind} is read as ${accepted.join(' or ')}`).toBe(true);
    }
    expectReadable(wanted, given!, here);
    if (wanted.items !== undefined) expectReadable(wanted.items, resolved(given!.items!), `${here}[]`);
  }
}

const read = byKind((z.toJSONSchema(eventSchemas().known) as Node).oneOf ?? []);
const written = byKind(declared.oneOf);

it('has a reader for every kind of event that the trainer writes, and for no other', () => {
  expect(Object.keys(read).length).toBeGreaterThan(10);
  expect(Object.keys(read).sort()).toEqual(Object.keys(written).sort());
});

it.each(Object.keys(written))('reads %s as the trainer declares it', (kind) => {
  expectReadable(read[kind]!, written[kind]!, kind);
});
