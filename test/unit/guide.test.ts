import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const pages = globSync(
  ['*.md', 'docs/**/*.md', '{src,webview,trainer,test,experiments,examples}/**/README.md'],
  {
    exclude: (name) => name.includes('node_modules'),
  },
);

it.each(pages)('%s links to files and names paths that exist', (page) => {
  const text = readFileSync(page, 'utf8');
  const links = [...text.matchAll(/\]\((?!\w+:|#)([^()\s#]+)[^()\s]*\)/g)].map(([, target]) =>
    path.join(path.dirname(page), target!),
  );
  const paths = [
    ...text.matchAll(/`((?:src|webview|trainer|test|scripts|docs|media|experiments)\/[\w./-]+)`/g),
  ].map(([, name]) => name!);
  const isHistory = page === 'CHANGELOG.md' || page.startsWith(path.join('docs', 'decisions'));
  expect([...links, ...(isHistory ? [] : paths)].filter((target) => !existsSync(target))).toEqual([]);
});

it.each(['src/core', 'src/editor', 'src', 'webview', 'trainer', 'trainer/tandem_trainer'])(
  'every folder in %s has a README',
  (folder) => {
    const folders = globSync(`${folder}/*/`, {
      exclude: (name) => /node_modules|__pycache__|\.egg|build|bench/.test(name),
    });
    expect(folders.filter((each) => !existsSync(path.join(each, 'README.md')))).toEqual([]);
  },
);
