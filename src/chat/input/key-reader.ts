/**
 * From the bytes of a terminal to keys and pasted text. A paste is literal text, whatever it holds and however its bytes
 * are cut; escape sequences that nobody knows are dropped, never typed.
 */

export type Key =
  | {type: 'text'; text: string}
  | {type: 'paste'; text: string}
  /** `enter`, `up`, `ctrl-a`, `alt-b`, `alt-enter`, … */
  | {type: 'key'; name: string};

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

const sequences: Readonly<Record<string, string>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  '[H': 'home',
  '[F': 'end',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  '[3~': 'delete',
  '[Z': 'shift-tab',
  '[1;5C': 'alt-f',
  '[1;5D': 'alt-b',
  '[1;3C': 'alt-f',
  '[1;3D': 'alt-b',
  '[13;2u': 'alt-enter',
  '[13;3u': 'alt-enter',
  '[27;2;13~': 'alt-enter',
};

const controls: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'ctrl-j',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
};

const knownSequence = /^\u001b(\[[0-9;?]*[ -/]*[@-~]|O[A-Z])/;
const unfinishedSequence = /^\u001b\[[0-9;?]*$/;

/**
 * Keys that were typed before the terminal gave us single ones came as lines: their Enter is a line feed. The one at the
 * end sends, those within stay in the text.
 */
export function earlyKeys(chunk: string): string {
  return chunk.replace(/\n$/, '\r');
}

export class KeyReader {
  #held = '';
  /** Text of a paste that has not ended. */
  #paste: string | null = null;

  push(chunk: string): Key[] {
    const keys: Key[] = [];
    let text = this.#held + chunk;
    this.#held = '';
    while (text !== '') text = this.#paste === null ? this.#readKey(text, keys) : this.#readPaste(text, keys);
    return keys;
  }

  /** Takes the end of a paste out; a half end mark waits for the next bytes. */
  #readPaste(text: string, keys: Key[]): string {
    const all = this.#paste + text;
    const end = all.indexOf(pasteEnd);
    if (end === -1) {
      this.#paste = all;
      return '';
    }
    keys.push({type: 'paste', text: all.slice(0, end).replace(/\r\n?/g, '\n')});
    this.#paste = null;
    return all.slice(end + pasteEnd.length);
  }

  /** @returns what is left */
  #readKey(text: string, keys: Key[]): string {
    if (text.startsWith(pasteStart)) {
      this.#paste = '';
      return text.slice(pasteStart.length);
    }
    if (text.startsWith('\u001b')) return this.#readEscape(text, keys);
    const plain = /^[^\u0000-\u001f\u007f]+/.exec(text)?.[0];
    if (plain !== undefined) {
      keys.push({type: 'text', text: plain});
      return text.slice(plain.length);
    }
    keys.push({type: 'key', name: controlName(text[0]!)});
    return text.slice(1);
  }

  #readEscape(text: string, keys: Key[]): string {
    const known = knownSequence.exec(text);
    if (known) {
      const name = sequences[known[1]!];
      if (name !== undefined) keys.push({type: 'key', name});
      return text.slice(known[0].length);
    }
    if (unfinishedSequence.test(text)) {
      this.#held = text;
      return '';
    }
    const next = text[1];
    if (next === undefined || next === '\u001b') {
      keys.push({type: 'key', name: 'escape'});
      return text.slice(1);
    }
    keys.push({type: 'key', name: `alt-${controls[next] ?? next}`});
    return text.slice(2);
  }
}

function controlName(character: string): string {
  return controls[character] ?? `ctrl-${String.fromCharCode(character.charCodeAt(0) + 96)}`;
}
