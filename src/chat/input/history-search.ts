/**
 * Search through earlier inputs as shells have it: what is typed narrows it, each further Ctrl-R goes to an older one. The
 * text that stood in the input before comes back when the search is given up.
 */
import type {Editor} from './editor.ts';
import type {InputHistory} from './history.ts';
import type {Key} from './key-reader.ts';

export type SearchStep =
  | {type: 'goes-on'}
  | {type: 'taken'; text: string}
  | {type: 'given-up'; editor: Editor}
  /** The found text is taken, and the key is still to be read. */
  | {type: 'left'; text: string};

const givingUp: readonly string[] = ['escape', 'ctrl-c', 'ctrl-g'];

export class HistorySearch {
  readonly #history: InputHistory;
  readonly #before: Editor;
  #query = '';
  #found: {index: number; entry: string} | null = null;
  #isMissing = false;

  constructor(history: InputHistory, before: Editor) {
    this.#history = history;
    this.#before = before;
  }

  /** Stands before the text that was found. */
  get label(): string {
    return `(${this.#isMissing ? 'nothing with' : 'search'} "${this.#query}") `;
  }

  get text(): string {
    return this.#found?.entry ?? '';
  }

  read(key: Key): SearchStep {
    if (key.type !== 'key') return this.#narrow(this.#query + key.text.replaceAll('\n', ' '));
    if (key.name === 'ctrl-r') return this.#goBack();
    if (key.name === 'backspace') return this.#narrow(this.#query.slice(0, -1));
    if (givingUp.includes(key.name)) return {type: 'given-up', editor: this.#before};
    return {type: key.name === 'enter' ? 'taken' : 'left', text: this.text};
  }

  #narrow(query: string): SearchStep {
    this.#query = query;
    this.#show(query === '' ? null : this.#history.search(query), query === '');
    return {type: 'goes-on'};
  }

  #goBack(): SearchStep {
    if (this.#query !== '') this.#show(this.#history.search(this.#query, this.#found?.index), false);
    return {type: 'goes-on'};
  }

  /** What was found last stays where there is nothing older. */
  #show(found: {index: number; entry: string} | null, isEmpty: boolean): void {
    this.#isMissing = found === null && !isEmpty;
    if (found !== null || isEmpty) this.#found = found;
  }
}
