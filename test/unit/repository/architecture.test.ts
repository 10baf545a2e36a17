/** The architecture page names files and types that exist. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {expect, it} from 'vitest';

const repository = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(repository, 'docs/architecture.md'), 'utf8');
const table = page.split('\n').filter((line) => /^\| \d+ /.test(line));

/** Texts in backquotes of one column of the table of steps. */
function quoted(column: number): string[] {
  return table.flatMap((line) => [...line.split('|')[column]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}

const sources = readdirSync(join(repository, 'src'), {recursive: true, encoding: 'utf8'}).filter((path) =>
  path.endsWith('.ts'),
);

it('describes every step', () => {
  expect(table.length).toBeGreaterThanOrEqual(13);
});

it('names places that exist', () => {
  const missing = quoted(2).filter((place) => {
    const isInside = place.includes('/');
    return isInside ? !existsSync(join(repository, 'src', place)) : !sources.some((path) => path.endsWith(`/${place}`));
  });
  expect(missing).toEqual([]);
});

it('names types that exist', () => {
  const code = sources.map((path) => readFileSync(join(repository, 'src', path), 'utf8')).join('\n');
  const names = quoted(3)
    .map((text) => /^[A-Z]\w+/.exec(text)?.[0])
    .filter((name) => name !== undefined);
  expect(names.filter((name) => !new RegExp(`export (type|interface|class) ${name}\\b`).test(code))).toEqual([]);
});

it('names paths that exist elsewhere on the page', () => {
  const paths = [...page.matchAll(/`((?:src|core|cli|commands|server|test|bin)\/[\w./-]+\.(?:ts|js))`/g)].map(
    (match) => match[1]!,
  );
  const roots = [repository, join(repository, 'src')];
  expect(paths.filter((path) => !roots.some((root) => existsSync(join(root, path))))).toEqual([]);
});
