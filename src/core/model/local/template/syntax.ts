// The parts of a parsed template, named as in jinja2.

export type Expression =
  | { readonly type: 'constant'; readonly value: string | bigint | number | boolean | null }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list' | 'tuple' | 'concat'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly type: 'unary'; readonly operator: 'not' | '-' | '+'; readonly operand: Expression }
  | {
      readonly type: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'compare'; readonly first: Expression; readonly others: readonly Comparison[] }
  | {
      readonly type: 'condition';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise?: Expression;
    }
  | { readonly type: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly type: 'item'; readonly object: Expression; readonly key: Expression | Slice }
  | { readonly type: 'call'; readonly callee: Expression; readonly given: Arguments }
  | {
      readonly type: 'filter' | 'test';
      readonly name: string;
      readonly operand: Expression;
      readonly given: Arguments;
    };

export type BinaryOperator = 'and' | 'or' | '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Comparison {
  readonly operator: ComparisonOperator;
  readonly right: Expression;
}

export interface Slice {
  readonly type: 'slice';
  readonly start?: Expression;
  readonly stop?: Expression;
  readonly step?: Expression;
}

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
}

export interface Parameter {
  readonly name: string;
  readonly otherwise?: Expression;
}

export type Target =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'member'; readonly namespace: string; readonly name: string }
  | { readonly type: 'tuple'; readonly items: readonly Target[] };

export type Statement =
  | { readonly type: 'data'; readonly text: string }
  | { readonly type: 'output'; readonly value: Expression }
  | { readonly type: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Body }
  | {
      readonly type: 'for';
      readonly target: Target;
      readonly iterable: Expression;
      readonly test?: Expression;
      readonly body: Body;
      readonly otherwise: Body;
    }
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly type: 'setBlock';
      readonly target: Target;
      readonly filters: readonly Filter[];
      readonly body: Body;
    }
  | { readonly type: 'filterBlock'; readonly filters: readonly Filter[]; readonly body: Body }
  | {
      readonly type: 'macro';
      readonly name: string;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | {
      readonly type: 'callBlock';
      readonly parameters: readonly Parameter[];
      readonly call: Expression & { type: 'call' };
      readonly body: Body;
    }
  | { readonly type: 'generation'; readonly body: Body }
  | { readonly type: 'break' | 'continue' };

export type Body = readonly Statement[];

export interface Branch {
  readonly test: Expression;
  readonly body: Body;
}

export interface Filter {
  readonly name: string;
  readonly given: Arguments;
}
