// Renders chat templates as transformers does in Python, on values of Python (values.ts). A template that uses what
// is not rendered alike is refused by name when it is opened; `template_check.py` of the trainer refuses the same.

import { BINARY, sliced } from './operators';
import { filterNamed, FILTERS, testNamed, TESTS, type Lookup } from './filters';
import { parse } from './parser';
import { checkFormat, checkPercent, STRING_METHODS } from './strings';
import type { Arguments, Body, Expression, Filter, Parameter, Statement, Target } from './syntax';
import {
  areEqual,
  Callable,
  compare,
  contains,
  fromJson,
  integerOf,
  isDict,
  isNumber,
  isTrue,
  iterate,
  keyOf,
  Marked,
  named,
  Namespace,
  orElse,
  refused,
  TemplateError,
  textOf,
  Tuple,
  typeName,
  Undefined,
  View,
  type Dict,
  type Given,
  type Key,
  type Value,
} from './values';

/** Variables by name; those of the scopes around are seen, and not changed. */
class Scope {
  readonly #own = new Map<string, Value>();
  constructor(readonly around?: Scope) {}
  get(name: string): Value | undefined {
    return this.#own.has(name) ? this.#own.get(name) : this.around?.get(name);
  }
  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }
}

type Signal = 'break' | 'continue';

/** As in jinja2's sandbox. */
const MAX_RANGE = 100_000;

const DICT_METHODS: Readonly<Record<string, (dict: Dict, given: Given) => Value>> = {
  copy: (dict) => new Map(dict),
  get: (dict, { positional: [key = null, otherwise = null] }) =>
    orElse(dict.get(keyOf(key)), () => otherwise),
  items: (dict) =>
    new View(
      'items',
      [...dict].map((entry) => new Tuple(entry)),
    ),
  keys: (dict) => new View('keys', [...dict.keys()]),
  values: (dict) => new View('values', [...dict.values()]),
};
const LIST_METHODS: Readonly<Record<string, (list: readonly Value[], given: Given) => Value>> = {
  copy: (list) => [...list],
  count: (list, { positional: [item = null] }) => BigInt(list.filter((each) => areEqual(each, item)).length),
  index: (list, { positional: [item = null] }) => {
    const at = list.findIndex((each) => areEqual(each, item));
    if (at < 0) throw new TemplateError('`index` does not find the item');
    return BigInt(at);
  },
};
/** Methods that change a value: jinja2's sandbox refuses to call them. */
const CHANGING_METHODS = [
  ...['append', 'clear', 'extend', 'insert', 'pop', 'popitem'],
  ...['remove', 'reverse', 'setdefault', 'sort', 'update'],
];
/** Attributes of Python's types that are not rendered; any other attribute that a value lacks is undefined. */
const FOREIGN_ATTRIBUTES = new Set(
  `as_integer_ratio bit_count bit_length casefold center conjugate denominator encode expandtabs 
  format_map fromhex fromkeys from_bytes hex imag is_integer isascii isdecimal isidentifier isnumeric isprintable
  istitle maketrans mapping numerator real rindex start step stop swapcase
  to_bytes translate zfill gi_code gi_frame send throw close unescape striptags`.split(/\s+/),
);

const FUNCTIONS: Readonly<Record<string, (given: Given) => Value>> = {
  dict: ({ positional: [from], named: members }) => {
    if (from !== undefined && !isDict(from)) throw refused('`dict` of a list');
    return new Map<Key, Value>([...(from ?? []), ...members]);
  },
  namespace: ({ positional: [from], named: members }) => {
    if (from !== undefined && !isDict(from)) throw refused('`namespace` of a list');
    const entries = [...(from ?? [])].map(([key, value]) => [String(key), value] as const);
    return new Namespace(new Map([...entries, ...members]));
  },
  raise_exception: (given) => {
    throw new TemplateError(textOf(named('raise_exception', given, 'message').message ?? null));
  },
  range: ({ positional }) => {
    const [first = 0, second, step = 1] = positional.map((value) => {
      const integer = integerOf(value);
      if (integer === undefined) throw new TemplateError(`\`range\` of ${typeName(value)}`);
      return Number(integer);
    });
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    const length = Math.max(0, Math.ceil((stop - start) / step));
    if (step === 0 || length > MAX_RANGE)
      throw new TemplateError(`a range of more than ${MAX_RANGE} numbers`);
    return new View(
      'range',
      Array.from({ length }, (_, index) => BigInt(start + index * step)),
    );
  },
};

/** What is rendered as in Python; `template_check.py` of the trainer has the same lists. */
export const CONSTRUCTS = {
  filters: Object.keys(FILTERS),
  tests: Object.keys(TESTS),
  methods: [
    ...new Set([STRING_METHODS, DICT_METHODS, LIST_METHODS].flatMap((methods) => Object.keys(methods))),
    ...CHANGING_METHODS,
  ],
};

/**
 * A fixed date for templates that print today's date: Llama's own default, as in training, so that a turn can be
 * repeated.
 */
const SAME_DAY = `{%- macro strftime_now(format) %}{{ format | replace("%d", "26") | replace("%b", "Jul")
| replace("%B", "July") | replace("%m", "07") | replace("%Y", "2024") | replace("%A", "Friday") }}{% endmacro %}`;

export class Template implements Lookup {
  readonly #body: Body;

  /** @throws {TemplateSyntaxError | TemplateError} if it is damaged or uses what is not rendered as in Python */
  constructor(text: string) {
    this.#body = parse(text.includes('strftime_now') ? SAME_DAY + text : text);
    checkAll(this.#body);
  }

  /** @throws {TemplateError} if the template refuses what it is given */
  render(variables: object): string {
    const scope = new Scope();
    for (const [name, value] of Object.entries(variables))
      if (value !== undefined) scope.set(name, fromJson(value));
    return this.#text(this.#body, scope);
  }

  #run(body: Body, scope: Scope, output: string[]): Signal | undefined {
    for (const statement of body) {
      const signal = this.#statement(statement, scope, output);
      if (signal !== undefined) return signal;
    }
    return undefined;
  }

  #statement(statement: Statement, scope: Scope, output: string[]): Signal | undefined {
    switch (statement.type) {
      case 'data':
        output.push(statement.text);
        return undefined;
      case 'output':
        output.push(textOf(this.#evaluate(statement.value, scope)));
        return undefined;
      case 'if': {
        const branch = statement.branches.find(({ test }) => isTrue(this.#evaluate(test, scope)));
        return this.#run(branch?.body ?? statement.otherwise, scope, output);
      }
      case 'for':
        return this.#for(statement, scope, output);
      case 'set':
        assign(statement.target, this.#evaluate(statement.value, scope), scope);
        return undefined;
      case 'setBlock': {
        const text = this.#text(statement.body, new Scope(scope));
        assign(statement.target, this.#filtered(text, statement.filters, scope), scope);
        return undefined;
      }
      case 'filterBlock': {
        const inner = new Scope(scope);
        output.push(textOf(this.#filtered(this.#text(statement.body, inner), statement.filters, inner)));
        return undefined;
      }
      case 'macro':
        scope.set(statement.name, this.#macro(statement.name, statement.parameters, statement.body, scope));
        return undefined;
      case 'callBlock': {
        const caller = this.#macro('caller', statement.parameters, statement.body, scope);
        output.push(textOf(this.#call(statement.call, scope, caller)));
        return undefined;
      }
      case 'generation':
        output.push(this.#text(statement.body, new Scope(scope)));
        return undefined;
      case 'break':
      case 'continue':
        return statement.type;
    }
  }

  #for(statement: Statement & { type: 'for' }, scope: Scope, output: string[]): Signal | undefined {
    const { target, test, body, otherwise } = statement;
    const items = iterate(this.#evaluate(statement.iterable, scope)).filter((item) => {
      if (test === undefined) return true;
      const inner = new Scope(scope);
      assign(target, item, inner);
      return isTrue(this.#evaluate(test, inner));
    });
    // A pass that is left by `break` or `continue` does not count, as in jinja2.
    let passed = false;
    for (const [index, item] of items.entries()) {
      const inner = new Scope(scope);
      inner.set('loop', loopAt(items, index));
      assign(target, item, inner);
      const signal = this.#run(body, inner, output);
      if (signal === 'break') break;
      if (signal === undefined) passed = true;
    }
    return passed ? undefined : this.#run(otherwise, new Scope(scope), output);
  }

  #text(body: Body, scope: Scope): string {
    const output: string[] = [];
    if (this.#run(body, scope, output) !== undefined) throw new TemplateError('`break` outside of a loop');
    return output.join('');
  }

  #filtered(value: Value, filters: readonly Filter[], scope: Scope): Value {
    return filters.reduce<Value>(
      (made, { name, given }) => this.#filter(name, made, this.#given(given, scope)),
      value,
    );
  }

  #macro(name: string, parameters: readonly Parameter[], body: Body, around: Scope): Callable {
    return new Callable(name, (given) => {
      const scope = new Scope(around);
      const { caller, ...values } = named(name, given, ...parameters.map((each) => each.name), 'caller');
      if (given.positional.length > parameters.length)
        throw new TemplateError(`\`${name}\` takes fewer arguments`);
      for (const { name: own, otherwise } of parameters) {
        const value = own === 'caller' ? caller : (values as Partial<Record<string, Value>>)[own];
        scope.set(
          own,
          orElse(value, () => (otherwise ? this.#evaluate(otherwise, scope) : new Undefined(own))),
        );
      }
      scope.set(
        'caller',
        orElse(caller, () => new Undefined('caller')),
      );
      return this.#text(body, scope);
    });
  }

  #given(
    { positional, named: names }: Arguments,
    scope: Scope,
  ): { positional: Value[]; named: Map<string, Value> } {
    return {
      positional: positional.map((argument) => this.#evaluate(argument, scope)),
      named: new Map(names.map(([name, argument]) => [name, this.#evaluate(argument, scope)] as const)),
    };
  }

  #filter(name: string, value: Value, given: Given): Value {
    const filter = filterNamed(name);
    if (filter === undefined) throw refused(`the filter \`${name}\``);
    return filter(value, given, this);
  }

  #call(call: Expression & { type: 'call' }, scope: Scope, caller?: Callable): Value {
    const callee = this.#evaluate(call.callee, scope);
    if (!(callee instanceof Callable)) throw new TemplateError(`${typeName(callee)} cannot be called`);
    const given = this.#given(call.given, scope);
    if (caller !== undefined) given.named.set('caller', caller);
    return callee.call(given);
  }

  #evaluate(node: Expression, scope: Scope): Value {
    switch (node.type) {
      case 'constant':
        return node.value;
      case 'name':
        return orElse(scope.get(node.name), () => functionNamed(node.name) ?? new Undefined(node.name));
      case 'list':
        return node.items.map((item) => this.#evaluate(item, scope));
      case 'tuple':
        return new Tuple(node.items.map((item) => this.#evaluate(item, scope)));
      case 'dict':
        return new Map(
          node.entries.map(
            ([key, value]) => [keyOf(this.#evaluate(key, scope)), this.#evaluate(value, scope)] as const,
          ),
        );
      case 'concat':
        return node.items.map((item) => textOf(this.#evaluate(item, scope))).join('');
      case 'unary':
        return unary(node.operator, this.#evaluate(node.operand, scope));
      case 'binary': {
        const left = this.#evaluate(node.left, scope);
        if (node.operator === 'and') return isTrue(left) ? this.#evaluate(node.right, scope) : left;
        if (node.operator === 'or') return isTrue(left) ? left : this.#evaluate(node.right, scope);
        return BINARY[node.operator](left, this.#evaluate(node.right, scope));
      }
      case 'compare':
        return this.#compare(node, scope);
      case 'condition':
        if (isTrue(this.#evaluate(node.test, scope))) return this.#evaluate(node.then, scope);
        return node.otherwise ? this.#evaluate(node.otherwise, scope) : new Undefined('if without else');
      case 'attribute':
        return this.attribute(this.#evaluate(node.object, scope), node.name);
      case 'item': {
        const object = this.#evaluate(node.object, scope);
        const { key } = node;
        if (key.type !== 'slice') return this.item(object, this.#evaluate(key, scope));
        const part = (each?: Expression): Value => (each === undefined ? null : this.#evaluate(each, scope));
        return sliced(object, part(key.start), part(key.stop), part(key.step));
      }
      case 'call':
        return this.#call(node, scope);
      case 'filter':
        return this.#filter(node.name, this.#evaluate(node.operand, scope), this.#given(node.given, scope));
      case 'test': {
        const test = testNamed(node.name);
        if (test === undefined) throw refused(`the test \`${node.name}\``);
        return test(this.#evaluate(node.operand, scope), this.#given(node.given, scope));
      }
    }
  }

  #compare(node: Expression & { type: 'compare' }, scope: Scope): boolean {
    let left = this.#evaluate(node.first, scope);
    for (const { operator, right: rightNode } of node.others) {
      const right = this.#evaluate(rightNode, scope);
      if (!compares(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  /** `object.name`: the attribute, or else the item. */
  attribute(object: Value, name: string): Value {
    return orElse(attributeOf(object, name), () => orElse(itemOf(object, name), () => new Undefined(name)));
  }

  item(object: Value, key: Value): Value {
    const attribute = typeof key === 'string' ? attributeOf : () => undefined;
    return orElse(itemOf(object, key), () =>
      orElse(attribute(object, textOf(key)), () => new Undefined(`[${textOf(key)}]`)),
    );
  }
}

function compares(operator: string, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return areEqual(left, right);
    case '!=':
      return !areEqual(left, right);
    case 'in':
      return contains(right, left);
    case 'not in':
      return !contains(right, left);
  }
  const order = compare(left, right);
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function unary(operator: 'not' | '-' | '+', value: Value): Value {
  if (operator === 'not') return !isTrue(value);
  if (!isNumber(value)) throw new TemplateError(`\`${operator}\` before ${typeName(value)}`);
  const number = typeof value === 'boolean' ? BigInt(value) : value;
  return operator === '-' ? -number : number;
}

const functionNamed = (name: string): Value | undefined => {
  const call = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  return call && new Callable(name, call);
};

function attributeOf(object: Value, name: string): Value | undefined {
  if (name.startsWith('_')) throw refused(`the attribute \`${name}\``);
  if (object instanceof Undefined)
    throw new TemplateError(`${typeName(object)} has no attribute \`${name}\``);
  if (object instanceof Namespace) return object.members.get(name);
  if (object instanceof Marked) throw refused(`\`.${name}\` of a text marked \`safe\``);
  const method = methodOf(object, name);
  if (method !== undefined) return new Callable(name, method);
  const isPlain = object === null || isDict(object) || object instanceof Callable;
  const isForeign = !isPlain && FOREIGN_ATTRIBUTES.has(name);
  const isChanging = (Array.isArray(object) || isDict(object)) && CHANGING_METHODS.includes(name);
  if (isForeign || isChanging || (isDict(object) && name === 'fromkeys'))
    throw refused(`\`.${name}\` of ${typeName(object)}`);
  if (object instanceof Callable) throw refused(`the attribute \`${name}\` of a function`);
  return undefined;
}

function methodOf(object: Value, name: string): ((given: Given) => Value) | undefined {
  const own = <Owner>(
    methods: Readonly<Record<string, (owner: Owner, given: Given) => Value>>,
    owner: Owner,
  ) => {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    return method && ((given: Given) => method(owner, given));
  };
  if (typeof object === 'string') return own(STRING_METHODS, object);
  if (isDict(object)) return own(DICT_METHODS, object);
  if (Array.isArray(object)) return own(LIST_METHODS, object);
  if (object instanceof Tuple && name !== 'copy') return own(LIST_METHODS, object.items);
  return undefined;
}

function itemOf(object: Value, key: Value): Value | undefined {
  if (object instanceof Undefined) throw new TemplateError(`${typeName(object)} has no items`);
  if (isDict(object)) return object.get(keyOf(key));
  const index = integerOf(key);
  if (index === undefined) return undefined;
  if (object instanceof Marked) throw refused('a part of a text marked `safe`');
  const items =
    typeof object === 'string'
      ? Array.from(object)
      : Array.isArray(object)
        ? object
        : object instanceof Tuple || (object instanceof View && object.kind === 'range')
          ? object.items
          : [];
  return items.at(Number(index));
}

function assign(target: Target, value: Value, scope: Scope): void {
  switch (target.type) {
    case 'name':
      scope.set(target.name, value);
      return;
    case 'member': {
      const namespace = scope.get(target.namespace);
      if (!(namespace instanceof Namespace))
        throw new TemplateError(`\`${target.namespace}\` is no namespace`);
      namespace.members.set(target.name, value);
      return;
    }
    case 'tuple': {
      const values = iterate(value);
      if (values.length !== target.items.length)
        throw new TemplateError(`${values.length} values for ${target.items.length} names`);
      for (const [index, item] of target.items.entries()) assign(item, values[index] ?? null, scope);
    }
  }
}

function loopAt(items: readonly Value[], index: number): Namespace {
  const { length } = items;
  return new Namespace(
    new Map<string, Value>([
      ['index', BigInt(index + 1)],
      ['index0', BigInt(index)],
      ['revindex', BigInt(length - index)],
      ['revindex0', BigInt(length - index - 1)],
      ['first', index === 0],
      ['last', index === length - 1],
      ['length', BigInt(length)],
      ['depth', 1n],
      ['depth0', 0n],
      ['previtem', orElse(items[index - 1], () => new Undefined('loop.previtem'))],
      ['nextitem', orElse(items[index + 1], () => new Undefined('loop.nextitem'))],
    ]),
  );
}

/** @throws {TemplateError} if a template uses what is not among `CONSTRUCTS` */
function checkAll(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  check(node);
  Object.values(node).forEach(checkAll);
}

function check(node: Partial<Record<'type' | 'name' | 'operator', string>> & Operands): void {
  const { type = 'filter', name = '', callee, left } = node;
  if (type === 'test' && testNamed(name) === undefined) throw refused(`the test \`${name}\``);
  if (type === 'filter' && node.given !== undefined && filterNamed(name) === undefined)
    throw refused(`the filter \`${name}\``);
  if (type === 'name' && FOREIGN_NAMES.includes(name)) throw refused(`\`${name}\``);
  if (node.operator === '%' && left?.type === 'constant' && typeof left.value === 'string')
    checkPercent(left.value);
  if (callee?.type !== 'attribute') return;
  if (!CONSTRUCTS.methods.includes(callee.name)) throw refused(`the method \`${callee.name}\``);
  const { object } = callee;
  if (callee.name === 'format' && object.type === 'constant' && typeof object.value === 'string')
    checkFormat(object.value);
}

interface Operands {
  readonly given?: Arguments;
  readonly callee?: Expression;
  readonly left?: Expression;
}

/** Names that jinja2 defines and that are not rendered. */
const FOREIGN_NAMES = ['cycler', 'joiner', 'lipsum', 'self', 'super', 'varargs', 'kwargs'];
