import ts from 'typescript-api';

/** Attributes that a person sees or a screen reader reads. */
const SAID =
  /^\.?(aria-(label|description|valuetext|roledescription|placeholder)|title|placeholder|label|alt)$/;
/** Properties of Tandem's components that hold visible words. */
const OPTION = /^(label|title|placeholder|detail|does|words|thoughts|note)$/;
/** Components that draw their first argument. */
const COMPONENT = /^(linkButton|progress|message|link|primary)$/;
const SELECTOR = /\.(querySelector(All)?|closest|matches)$/;
/** Operators whose result is one of their operands or both; comparisons are not among them. */
const JOINS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);
/** Stands for an expression in a template. */
const HOLE = '\uE000';
const TAG = /<!--.*?-->|<\/?[a-z](?:"[^"]*"|'[^']*'|[^'">])*>/gis;
const ATTRIBUTE = /\s([.?@]?[\w-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/g;

/**
 * Returns the untranslated words of a view: text and attributes of its templates, and literals that are drawn or that
 * look like sentences.
 */
export function untranslated(source: string): string[] {
  const found = new Set<string>();
  const report = (words: string): void => {
    found.add(words.replaceAll(HOLE, '…').replaceAll(/\s+/g, ' ').trim());
  };

  /** @returns for each expression in the markup whether it is visible or read aloud */
  const markup = (text: string): boolean[] => {
    const seen = Array.from({ length: holes(text) }, () => true);
    for (const { 0: tag, index } of text.matchAll(TAG)) {
      const before = holes(text.slice(0, index));
      seen.fill(false, before, before + holes(tag));
      for (const { 1: name = '', 2: value = '', index: at } of tag.matchAll(ATTRIBUTE)) {
        if (!SAID.test(name)) continue;
        const first = before + holes(tag.slice(0, at));
        seen.fill(true, first, first + holes(value));
        if (hasLetter(value)) report(value);
      }
    }
    for (const piece of text.replaceAll(TAG, HOLE).split(HOLE)) if (hasLetter(piece)) report(piece);
    return seen;
  };

  const literal = (text: string, isWords: (text: string) => boolean): void => {
    if (/<\/?[a-z]/i.test(text)) markup(text);
    else if (isWords(text)) report(text);
  };

  /** Visits an expression whose value is visible or read aloud; any letter in it counts. */
  const shown = (node: ts.Expression): void => {
    if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(shown);
    else if (ts.isBinaryExpression(node)) {
      if (JOINS.has(node.operatorToken.kind)) [node.left, node.right].forEach(shown);
    } else if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node)) shown(node.expression);
    else if (isLiteral(node)) literal(textOf(node), hasLetter);
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') {
      const seen = markup(textOf(node.template));
      expressionsOf(node.template).forEach((expression, index) => {
        if (seen[index] === true) shown(expression);
        visit(expression);
      });
      return;
    }
    if (ts.isCallExpression(node)) {
      const [first, ...others] = node.arguments;
      const called = node.expression.getText();
      if (called === 't' || SELECTOR.test(called)) {
        // `translation.test.ts` checks the sentence; its values may contain words, too.
        others.forEach(visit);
        return;
      }
      if (COMPONENT.test(called) && first !== undefined) shown(first);
    }
    if (ts.isPropertyAssignment(node) && OPTION.test(node.name.getText())) shown(node.initializer);
    if (isLiteral(node)) literal(textOf(node), isSentence);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('view.ts', source, ts.ScriptTarget.Latest, true));
  return [...found];
}

const hasLetter = (text: string): boolean =>
  /\p{L}/u.test(text.replaceAll(HOLE, '').replaceAll(/&#?\w+;/g, ''));

/** Returns whether a text has several words or starts like a sentence; others may be names in the code. */
const isSentence = (text: string): boolean =>
  (/[\p{L}\uE000][’'.,;:]*\s+[\p{L}\uE000]/u.test(text) && hasLetter(text)) ||
  /^\p{Lu}\p{Ll}+[….:?!]?$/u.test(text);

const holes = (text: string): number => text.split(HOLE).length - 1;

type Literal = ts.StringLiteralLike | ts.TemplateExpression;

const isLiteral = (node: ts.Node): node is Literal =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** Returns the text of a literal with a mark in place of each expression. */
function textOf(node: Literal): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  return [node.head, ...node.templateSpans.map((span) => span.literal)].map(({ text }) => text).join(HOLE);
}

function expressionsOf(node: ts.TemplateLiteral): readonly ts.Expression[] {
  return ts.isTemplateExpression(node) ? node.templateSpans.map(({ expression }) => expression) : [];
}
