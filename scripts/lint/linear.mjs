// A lint rule: every regular expression must run in linear time on any text.
import { analyse } from 'scslre';

/**
 * The fields of a node of the syntax tree (ESTree) that this rule needs.
 *
 * @typedef {object} Node
 * @property {string} type
 * @property {string} [name] of an Identifier
 * @property {unknown} [value] of a Literal
 * @property {{ pattern: string, flags: string }} [regex] of a Literal
 * @property {readonly Node[]} [expressions] of a TemplateLiteral
 * @property {readonly { value: { raw: string, cooked: string } }[]} [quasis] of a TemplateLiteral
 * @property {Node} [quasi] of a TaggedTemplateExpression
 * @property {Node} [left] of a BinaryExpression
 * @property {Node} [right] of a BinaryExpression
 * @property {Node} [callee] of a CallExpression or NewExpression
 * @property {readonly Node[]} [arguments] of a CallExpression or NewExpression
 * @property {readonly (Node | null)[]} [elements] of an ArrayExpression
 * @property {Node} [object] of a MemberExpression
 * @property {Node} [property] of a MemberExpression
 * @property {Node} [id] of a VariableDeclarator
 * @property {Node | null} [init] of a VariableDeclarator
 */

/** Replaces values (`${name}`) in a pattern that are known only at run time. */
const SOME_NAME = 'x';

/**
 * Finds super-linear expressions: two repetitions match the same characters, one repetition matches them in several
 * ways, or the search starts again at each of them.
 *
 * @param {{ source: string, flags: string }} literal
 * @returns {string | undefined} the message; undefined when the expression is linear
 */
function superLinear(literal) {
  const [report] = analyse(literal, { maxReports: 1 }).reports;
  if (report === undefined) return undefined;
  const { source, flags } = report.character.literal;
  const how = report.exponential ? 'exponential' : 'more than linear';
  return `A long run of /${source}/${flags} makes this expression take ${how} time; rewrite it, or read the text without one.`;
}

/**
 * Returns the text of a pattern that is composed of constants of its module.
 *
 * @param {Node | null | undefined} node
 * @param {ReadonlyMap<string, Node>} constants
 * @returns {string | undefined} undefined when it cannot be determined
 */
function textOf(node, constants) {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : undefined;
    case 'Identifier': {
      const constant = constants.get(node.name ?? '');
      return constant === undefined ? SOME_NAME : textOf(constant, constants);
    }
    case 'TemplateLiteral':
      return filled(node, 'cooked', constants);
    case 'TaggedTemplateExpression':
      return node.quasi && filled(node.quasi, 'raw', constants);
    case 'BinaryExpression':
      return joined([node.left, node.right], '', constants);
    case 'CallExpression': {
      const { object, property } = node.callee ?? {};
      const separator = textOf(node.arguments?.[0], constants);
      if (property?.name !== 'join' || object?.type !== 'ArrayExpression' || separator === undefined)
        return undefined;
      return joined(object.elements ?? [], separator, constants);
    }
    default:
      return undefined;
  }
}

/**
 * @param {Node} template
 * @param {'raw' | 'cooked'} form
 * @param {ReadonlyMap<string, Node>} constants
 */
function filled({ quasis = [], expressions = [] }, form, constants) {
  const pieces = quasis.map(({ value }, index) => {
    const next = index < expressions.length ? textOf(expressions[index], constants) : '';
    return next === undefined ? undefined : value[form] + next;
  });
  return pieces.includes(undefined) ? undefined : pieces.join('');
}

/**
 * @param {readonly (Node | null | undefined)[]} nodes
 * @param {string} separator
 * @param {ReadonlyMap<string, Node>} constants
 */
function joined(nodes, separator, constants) {
  const texts = nodes.map((node) => textOf(node, constants));
  return texts.includes(undefined) ? undefined : texts.join(separator);
}

const rule = {
  /** @param {{ report: (found: { node: Node, message: string }) => void }} context */
  create(context) {
    /** @type {Map<string, Node>} */
    const constants = new Map();
    /** @type {Node[]} */
    const built = [];
    /** @param {Node} node @param {{ source: string, flags: string }} literal */
    const look = (node, literal) => {
      const message = superLinear(literal);
      if (message !== undefined) context.report({ node, message });
    };
    return {
      /** @param {Node} node */
      'Program > VariableDeclaration > VariableDeclarator'({ id, init }) {
        if (id?.name !== undefined && init) constants.set(id.name, init);
      },
      /** @param {Node} node */
      'Program > ExportNamedDeclaration > VariableDeclaration > VariableDeclarator'({ id, init }) {
        if (id?.name !== undefined && init) constants.set(id.name, init);
      },
      /** @param {Node} node */
      Literal(node) {
        if (node.regex) look(node, { source: node.regex.pattern, flags: node.regex.flags });
      },
      /** @param {Node} node */
      NewExpression(node) {
        if (node.callee?.name === 'RegExp') built.push(node);
      },
      // Runs at the end of the file, because a constant may be defined below the function that uses it.
      'Program:exit'() {
        for (const node of built) {
          const [pattern, flags] = node.arguments ?? [];
          const source = textOf(pattern, constants);
          const message =
            'Lint cannot read this pattern; put it together from constants of this file, in one template.';
          if (source === undefined) context.report({ node, message });
          else look(node, { source, flags: flags === undefined ? '' : (textOf(flags, constants) ?? '') });
        }
      },
    };
  },
};

export default { meta: { name: 'tandem' }, rules: { 'linear-regexp': rule } };
