/** Earlier inputs, over sessions: one JSON text per line in a file of the user, the newest last. */
import {appendFile, mkdir, readFile} from 'node:fs/promises';
import {dirname} from 'node:path';

const maxEntries = 1000;

export class InputHistory {
  readonly #path: string | null;
  readonly #entries: string[];
  /** Place while walking; the length means the input of now. */
  #position: number;
  #draft = '';

  /** @param path null keeps nothing */
  constructor(path: string | null, entries: readonly string[] = []) {
    this.#path = path;
    this.#entries = [...entries];
    this.#position = entries.length;
  }

  static async open(path: string | null): Promise<InputHistory> {
    const text = path === null ? '' : await readFile(path, 'utf8').catch(() => '');
    return new InputHistory(path, text.split('\n').flatMap(entryOf).slice(-maxEntries));
  }

  /** Never fails: a history that cannot be written is none. */
  async add(entry: string): Promise<void> {
    if (entry !== '' && this.#entries.at(-1) !== entry) this.#entries.push(entry);
    this.#position = this.#entries.length;
    if (this.#path === null || entry === '') return;
    await mkdir(dirname(this.#path), {recursive: true, mode: 0o700}).catch(() => {});
    await appendFile(this.#path, `${JSON.stringify(entry)}\n`, {mode: 0o600}).catch(() => {});
  }

  /** The entry before or after; null at the ends. @param current what stands in the input */
  walk(direction: -1 | 1, current: string): string | null {
    const next = this.#position + direction;
    if (next < 0 || next > this.#entries.length) return null;
    if (this.#position === this.#entries.length) this.#draft = current;
    this.#position = next;
    return this.#entries[next] ?? this.#draft;
  }

  /** The newest entry with this text that is older than `before`, and another one than that. */
  search(text: string, before = this.#entries.length): {index: number; entry: string} | null {
    const shown = this.#entries[before];
    const index = this.#entries.findLastIndex(
      (entry, place) => place < before && entry !== shown && entry.includes(text),
    );
    return index === -1 ? null : {index, entry: this.#entries[index]!};
  }
}

function entryOf(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}
