import {describe, expect, it} from 'vitest';
import {cleanMessage} from '../../../src/server/clean-message.ts';

describe('cleanMessage', () => {
  it.each([
    ['The model `/models/foo/bar.gguf` does not exist', 'The model `<path>` does not exist'],
    ['cannot read /home/me/some folder', 'cannot read <path> folder'],
    ["open '/usr/lib/x'", "open '<path>'"],
    ['<Foo object at 0x7f3a2b>', '<Foo object>'],
    ['Traceback (most recent call last):\n  File "/x/y.py", line 3, in f\nbad', 'bad'],
    ['  spaces  ', 'spaces'],
    ["Only 'application/json' is allowed", "Only 'application/json' is allowed"],
    ['use https://example.org/a/b.html', 'use https://example.org/a/b.html'],
    ['in [0, 1] or a/b.c', 'in [0, 1] or a/b.c'],
    ['/opt', '/opt'],
    ['see -/etc/hosts.allow, //a/b.c and @/a/b/c', 'see -<path>, //a/b.c and @/a/b/c'],
    ['/a/b.c/d and x:/a/b.c', '<path>/d and x:/a/b.c'],
    ['File "<introspection>", line 1', 'File "<introspection>", line 1'],
  ])('%s', (text, cleaned) => {
    expect(cleanMessage(text)).toBe(cleaned);
  });

  it.each([
    ['names behind names', '/a'],
    ['many places where a path could begin', '-/'],
    ['many paths', '/a/b.c-'],
    ['dots', '/a/.'],
    ['empty lines', '\n'],
    ['line ends of other kinds', '\r\u2028'],
    ['blanks', ' '],
    ['beginnings of tracebacks', '\nFile "a", line '],
    ['addresses', ' at 0xa'],
  ])('is quick with %s', (_name, part) => {
    const start = performance.now();
    cleanMessage(`x${part.repeat(1_000_000 / part.length)}x`);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
