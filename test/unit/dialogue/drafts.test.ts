import { expect, test } from 'vitest';

import { draftIn } from '../../../src/core/dialogue/drafts';

test('takes the first page of a message', () => {
  expect(draftIn('Here it is:\n<HTML lang="en"><p>1</p></HTML>\n<html>2</html>')).toBe(
    '<HTML lang="en"><p>1</p></HTML>',
  );
});

test('takes a body where there is no html element', () => {
  expect(draftIn('```html\n<body class="a">x</body >\n```')).toBe('<body class="a">x</body >');
});

test.each(['', 'No page yet. What color should it be?', '<html><body>cut off', '<htmlx></htmlx>'])(
  'finds no page in %j',
  (message) => {
    expect(draftIn(message)).toBeUndefined();
  },
);
