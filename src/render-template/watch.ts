/**
 * Tells when one of several files has changed, and takes back what was printed before. Editors write a file in several
 * steps, so changes are gathered a moment.
 */
import {watch as watchFile} from 'node:fs';
import {basename, dirname, resolve} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import type {RunContext} from './run.ts';

/** Changes within this time are one. */
const settleMs = 80;

/**
 * Calls back after each change until the signal is aborted. The folders are watched, because editors replace files.
 * @param paths files that exist
 */
export async function watchFiles(
  paths: readonly string[],
  onChange: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const files = paths.map((path) => resolve(path));
  await new Promise<void>((finish) => {
    let timer: NodeJS.Timeout | null = null;
    const changed = () => {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => void onChange(), settleMs);
    };
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      const names = new Set(files.filter((file) => dirname(file) === folder).map((file) => basename(file)));
      watchFile(folder, {signal}, (_event, name) => {
        if (name !== null && names.has(name)) changed();
      });
    }
    signal.addEventListener('abort', () => finish(), {once: true});
  });
}

export interface OwnLines {
  /** Takes away what was written since the last call, as far as it is still on the screen. */
  clear(): void;
}

type Writers = Pick<RunContext, 'write' | 'writeError'>;

/** Counts the lines that go to a terminal through these writers; what stands above them stays. */
export function ownLines(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows' | 'write'>,
  writers: Writers,
): OwnLines {
  let written = '';
  const {write, writeError} = writers;
  writers.write = (text) => {
    written += text;
    write(text);
  };
  writers.writeError = (line) => {
    written += `${line}\n`;
    writeError(line);
  };
  return {
    clear() {
      const height = Math.min(heightOf(written, stream.columns || 80), (stream.rows || 24) - 1);
      written = '';
      if (stream.isTTY && height > 0) stream.write(`\u001b[${height}F\u001b[0J`);
    },
  };
}

/** Line feeds, and the breaks that a terminal makes in long lines. */
function heightOf(text: string, columns: number): number {
  const lines = stripVTControlCharacters(text).split('\n').slice(0, -1);
  return lines.reduce((height, line) => height + Math.max(1, Math.ceil(line.length / columns)), 0);
}
