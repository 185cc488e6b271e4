// Parses a chat template by the grammar of jinja2 (`jinja2/parser.py`), with the tags that transformers adds.

import { TemplateSyntaxError, tokenize, type Token } from './lexer';
import type {
  Arguments,
  BinaryOperator,
  Body,
  Branch,
  Comparison,
  ComparisonOperator,
  Expression,
  Filter,
  Parameter,
  Slice,
  Statement,
  Target,
} from './syntax';
import { refused } from './values';

const CONSTANTS = new Map<string, boolean | null>([
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
]);
const KEYWORDS = new Set(['and', 'else', 'if', 'in', 'is', 'not', 'or']);
const MAX_DEPTH = 200;

/** @throws {TemplateSyntaxError} */
export function parse(template: string): Body {
  return new Parser(tokenize(template)).template();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  template(): Body {
    const body = this.#body([]);
    if (this.#token.kind !== 'done') throw this.#unexpected();
    return body;
  }

  get #token(): Token {
    return this.#ahead(0);
  }

  #ahead(by: number): Token {
    const token = this.#tokens[Math.min(this.#at + by, this.#tokens.length - 1)];
    if (token === undefined) throw new TemplateSyntaxError('no template', 1);
    return token;
  }

  #next(): Token {
    const token = this.#token;
    this.#at++;
    return token;
  }

  #is(text: string, by = 0): boolean {
    const { kind, text: found } = this.#ahead(by);
    return found === text && (kind === 'name' || kind === 'operator' || kind === 'end' || kind === 'begin');
  }

  #skip(text: string): boolean {
    const found = this.#is(text);
    if (found) this.#at++;
    return found;
  }

  #expect(text: string): void {
    if (!this.#skip(text)) throw this.#unexpected(`, where \`${text}\` should be`);
  }

  #name(): string {
    if (this.#token.kind !== 'name') throw this.#unexpected(', where a name should be');
    return this.#next().text;
  }

  #unexpected(more = ''): TemplateSyntaxError {
    return this.#error(`\`${this.#token.text}\` is not expected${more}`);
  }

  #error(message: string): TemplateSyntaxError {
    return new TemplateSyntaxError(message, this.#token.line);
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw refused('too many levels of nesting');
    const made = parse();
    this.#depth--;
    return made;
  }

  /** Up to a tag of one of these names, whose name is the next token afterwards. */
  #body(ends: readonly string[]): Statement[] {
    const body: Statement[] = [];
    for (;;) {
      if (this.#token.kind === 'data') {
        body.push({ type: 'data', text: this.#next().text });
      } else if (this.#skip('{{')) {
        body.push({ type: 'output', value: this.#tuple() });
        this.#expect('}}');
      } else if (this.#is('{%')) {
        this.#at++;
        if (this.#token.kind === 'name' && ends.includes(this.#token.text)) return body;
        body.push(this.#nested(() => this.#statement()));
      } else {
        if (ends.length > 0) throw this.#error(`\`${ends.at(-1)}\` is missing`);
        return body;
      }
    }
  }

  #bodyAfterTag(...ends: string[]): Statement[] {
    this.#skip(':');
    this.#expect('%}');
    return this.#body(ends);
  }

  /** A body up to the one tag that ends it. */
  #wholeBody(end: string): Statement[] {
    const body = this.#bodyAfterTag(end);
    this.#at++;
    this.#expect('%}');
    return body;
  }

  #statement(): Statement {
    const tag = this.#name();
    switch (tag) {
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'set':
        return this.#set();
      case 'macro': {
        const name = this.#name();
        return { type: 'macro', name, parameters: this.#parameters(), body: this.#wholeBody('endmacro') };
      }
      case 'call': {
        const parameters = this.#is('(') ? this.#parameters() : [];
        const call = this.#expression();
        if (call.type !== 'call') throw this.#error('`call` calls nothing');
        return { type: 'callBlock', parameters, call, body: this.#wholeBody('endcall') };
      }
      case 'filter': {
        const filters = this.#filters(true);
        return { type: 'filterBlock', filters, body: this.#wholeBody('endfilter') };
      }
      case 'generation':
        return { type: 'generation', body: this.#wholeBody('endgeneration') };
      case 'break':
      case 'continue':
        this.#expect('%}');
        return { type: tag };
      default:
        throw refused(`the tag \`${tag}\``);
    }
  }

  #if(): Statement {
    const branches: Branch[] = [];
    let otherwise: Body = [];
    do {
      const test = this.#tuple(false);
      branches.push({ test, body: this.#bodyAfterTag('elif', 'else', 'endif') });
    } while (this.#skip('elif'));
    if (this.#skip('else')) otherwise = this.#bodyAfterTag('endif');
    this.#expect('endif');
    this.#expect('%}');
    return { type: 'if', branches, otherwise };
  }

  #for(): Statement {
    const target = this.#target('in');
    this.#expect('in');
    const iterable = this.#tuple(false, 'recursive');
    const test = this.#skip('if') ? this.#expression() : undefined;
    if (this.#is('recursive')) throw refused('a `for` that is `recursive`');
    const body = this.#bodyAfterTag('endfor', 'else');
    const otherwise = this.#skip('else') ? this.#bodyAfterTag('endfor') : [];
    this.#expect('endfor');
    this.#expect('%}');
    return { type: 'for', target, iterable, ...(test && { test }), body, otherwise };
  }

  #set(): Statement {
    const target = this.#target('=', true);
    if (this.#skip('=')) {
      const value = this.#tuple();
      this.#expect('%}');
      return { type: 'set', target, value };
    }
    const filters = this.#is('|') ? this.#filters(false) : [];
    return { type: 'setBlock', target, filters, body: this.#wholeBody('endset') };
  }

  #filters(inline: boolean): Filter[] {
    const filters: Filter[] = [];
    while (inline ? filters.length === 0 || this.#skip('|') : this.#skip('|')) filters.push(this.#filter());
    return filters;
  }

  #filter(): Filter {
    const name = this.#dotted();
    return { name, given: this.#is('(') ? this.#arguments() : { positional: [], named: [] } };
  }

  #dotted(): string {
    let name = this.#name();
    while (this.#skip('.')) name += `.${this.#name()}`;
    return name;
  }

  #target(end: string, members = false): Target {
    return this.#oneOrTuple(
      () => this.#singleTarget(members),
      () => this.#is(end),
    );
  }

  /** One item, or several with commas. */
  #oneOrTuple<Item>(item: () => Item, ends: () => boolean): Item | { type: 'tuple'; items: Item[] } {
    const first = item();
    if (!this.#is(',')) return first;
    const items = [first];
    while (this.#skip(',') && !ends()) items.push(item());
    return { type: 'tuple', items };
  }

  #singleTarget(members: boolean): Target {
    if (this.#skip('(')) {
      const target = this.#nested(() => this.#target(')', members));
      this.#expect(')');
      return target;
    }
    const name = this.#name();
    if (CONSTANTS.has(name) || name === 'loop') throw refused(`a value for \`${name}\``);
    if (members && this.#skip('.')) return { type: 'member', namespace: name, name: this.#name() };
    return { type: 'name', name };
  }

  #parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.#expect('(');
    while (!this.#is(')')) {
      if (parameters.length > 0) this.#expect(',');
      const name = this.#name();
      if (this.#skip('=')) parameters.push({ name, otherwise: this.#expression() });
      else if (parameters.at(-1)?.otherwise) throw this.#error(`\`${name}\` needs a default`);
      else parameters.push({ name });
    }
    this.#expect(')');
    return parameters;
  }

  #arguments(): Arguments {
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    this.#expect('(');
    while (!this.#is(')')) {
      if (positional.length + named.length > 0) {
        this.#expect(',');
        if (this.#is(')')) break;
      }
      if (this.#is('*') || this.#is('**')) throw refused('`*` before an argument');
      if (this.#token.kind === 'name' && this.#is('=', 1)) {
        const name = this.#name();
        this.#at++;
        named.push([name, this.#expression()]);
      } else if (named.length > 0) {
        throw this.#unexpected();
      } else {
        positional.push(this.#expression());
      }
    }
    this.#expect(')');
    return { positional, named };
  }

  #tuple(conditions = true, end?: string): Expression {
    return this.#oneOrTuple(
      () => (conditions ? this.#expression() : this.#nested(() => this.#or())),
      () => this.#token.kind === 'end' || this.#is(')') || (end !== undefined && this.#is(end)),
    );
  }

  #expression(): Expression {
    return this.#nested(() => {
      let then = this.#or();
      while (this.#skip('if')) {
        const test = this.#or();
        then = this.#skip('else')
          ? { type: 'condition', test, then, otherwise: this.#expression() }
          : { type: 'condition', test, then };
      }
      return then;
    });
  }

  #binary(operand: () => Expression, operators: readonly BinaryOperator[]): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((each) => this.#is(each));
      if (operator === undefined) return left;
      this.#at++;
      left = { type: 'binary', operator, left, right: operand() };
    }
  }

  #or(): Expression {
    return this.#binary(() => this.#binary(() => this.#not(), ['and']), ['or']);
  }

  #not(): Expression {
    if (this.#skip('not'))
      return { type: 'unary', operator: 'not', operand: this.#nested(() => this.#not()) };
    return this.#compare();
  }

  #compare(): Expression {
    const first = this.#sum();
    const others: Comparison[] = [];
    for (;;) {
      const operator = this.#comparison();
      if (operator === undefined) return others.length > 0 ? { type: 'compare', first, others } : first;
      others.push({ operator, right: this.#sum() });
    }
  }

  #comparison(): ComparisonOperator | undefined {
    if (this.#is('not') && this.#is('in', 1)) {
      this.#at += 2;
      return 'not in';
    }
    const all = ['==', '!=', '<', '<=', '>', '>=', 'in'] as const;
    const operator = all.find((each) => this.#is(each));
    if (operator !== undefined) this.#at++;
    return operator;
  }

  #sum(): Expression {
    return this.#binary(() => this.#concat(), ['+', '-']);
  }

  #concat(): Expression {
    const first = this.#product();
    const items = [first];
    while (this.#skip('~')) items.push(this.#product());
    return items.length > 1 ? { type: 'concat', items } : first;
  }

  #product(): Expression {
    const power = (): Expression => this.#binary(() => this.#unary(true), ['**']);
    return this.#binary(power, ['*', '/', '//', '%']);
  }

  #unary(filtered: boolean): Expression {
    const operator = this.#is('-') ? '-' : this.#is('+') ? '+' : undefined;
    if (operator !== undefined) this.#at++;
    const bare: Expression =
      operator === undefined
        ? this.#primary()
        : { type: 'unary', operator, operand: this.#nested(() => this.#unary(false)) };
    const node = this.#postfix(bare);
    return filtered ? this.#filtered(node) : node;
  }

  #primary(): Expression {
    const token = this.#next();
    switch (token.kind) {
      case 'name': {
        const constant = CONSTANTS.get(token.text);
        if (constant !== undefined) return { type: 'constant', value: constant };
        if (KEYWORDS.has(token.text)) break;
        return { type: 'name', name: token.text };
      }
      case 'string': {
        let value = token.text;
        while (this.#token.kind === 'string') value += this.#next().text;
        return { type: 'constant', value };
      }
      case 'integer':
        return { type: 'constant', value: BigInt(token.text) };
      case 'float':
        return { type: 'constant', value: Number(token.text) };
      case 'operator':
        if (token.text === '(') return this.#parenthesised();
        if (token.text === '[') return { type: 'list', items: this.#items(']') };
        if (token.text === '{') return this.#dict();
        break;
      case 'data':
      case 'begin':
      case 'end':
      case 'done':
        break;
    }
    this.#at--;
    throw this.#unexpected();
  }

  #parenthesised(): Expression {
    if (this.#skip(')')) return { type: 'tuple', items: [] };
    const inner = this.#tuple();
    this.#expect(')');
    return inner;
  }

  #items(end: string): Expression[] {
    const items: Expression[] = [];
    while (!this.#skip(end)) {
      if (items.length > 0) {
        this.#expect(',');
        if (this.#skip(end)) break;
      }
      items.push(this.#expression());
    }
    return items;
  }

  #dict(): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.#skip('}')) {
      if (entries.length > 0) {
        this.#expect(',');
        if (this.#skip('}')) break;
      }
      const key = this.#expression();
      this.#expect(':');
      entries.push([key, this.#expression()]);
    }
    return { type: 'dict', entries };
  }

  #postfix(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.#skip('.')) {
        if (this.#token.kind === 'integer')
          node = { type: 'item', object: node, key: { type: 'constant', value: BigInt(this.#next().text) } };
        else node = { type: 'attribute', object: node, name: this.#name() };
      } else if (this.#skip('[')) {
        node = { type: 'item', object: node, key: this.#key() };
      } else if (this.#is('(')) {
        node = { type: 'call', callee: node, given: this.#arguments() };
      } else {
        return node;
      }
    }
  }

  #refuseTuple(key?: Expression): void {
    if (key?.type === 'tuple' || this.#is(',')) throw refused('a tuple between `[` and `]`');
  }

  #key(): Expression | Slice {
    const ends = (): boolean => this.#is(':') || this.#is(']');
    const part = (): Expression | undefined => (ends() ? undefined : this.#expression());
    const start = part();
    this.#refuseTuple(start);
    if (start !== undefined && this.#skip(']')) return start;
    this.#expect(':');
    const stop = part();
    const step = this.#skip(':') ? part() : undefined;
    this.#refuseTuple();
    this.#expect(']');
    return { type: 'slice', ...(start && { start }), ...(stop && { stop }), ...(step && { step }) };
  }

  #filtered(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.#skip('|')) node = { type: 'filter', operand: node, ...this.#filter() };
      else if (this.#skip('is')) node = this.#test(node);
      else if (this.#is('(')) node = { type: 'call', callee: node, given: this.#arguments() };
      else return node;
    }
  }

  #test(operand: Expression): Expression {
    const negated = this.#skip('not');
    const test: Expression = { type: 'test', operand, name: this.#dotted(), given: this.#testArguments() };
    return negated ? { type: 'unary', operator: 'not', operand: test } : test;
  }

  #testArguments(): Arguments {
    if (this.#is('(')) return this.#arguments();
    const { kind, text } = this.#token;
    const begins =
      kind === 'name' ? !KEYWORDS.has(text) : kind === 'operator' ? '[{'.includes(text) : kind !== 'end';
    if (kind === 'name' && text === 'is') throw this.#error('a second `is`');
    return { positional: begins ? [this.#postfix(this.#primary())] : [], named: [] };
  }
}
