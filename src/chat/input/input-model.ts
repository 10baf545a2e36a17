/**
 * What is being typed and what keys do at each moment: edit, walk the history, complete, answer a question about a call,
 * stop, leave. Holds no text of the talk and draws nothing.
 */
import type {Approval} from '../conversation/run-turn.ts';
import type {ViewState} from '../state/view-state.ts';
import {completeInput} from './complete-input.ts';
import {type Editor, editByKey, editorOf, emptyEditor, insert, moveLine} from './editor.ts';
import type {InputHistory} from './history.ts';
import {HistorySearch} from './history-search.ts';
import {type Key, KeyReader} from './key-reader.ts';

export interface InputActions {
  submit(text: string): void;
  /** What was submitted goes on. The view knows it a frame later. */
  isBusy(): boolean;
  stop(): void;
  approve(approval: Approval): void;
  showThought(): void;
  showLastCall(): void;
  clearScreen(): void;
  /** Opens the editor of the person with a text. @returns what it became; null when that did not work */
  editOutside(text: string): Promise<string | null>;
  /** Shows the last turn in the pager of the person. */
  showInPager(): void;
  quit(): void;
}

export interface TypedInput {
  editor: Editor;
  /** Stands before the text. */
  label: string;
  /** Stands in the empty input. */
  hint: string;
  /** Enter was pressed while an answer came: the text goes when that has ended. */
  isWaiting: boolean;
  purpose: Purpose;
}

/** The input may be about something else than a message. */
type Purpose = 'message' | 'search' | 'refusal' | 'arguments';

const hints: Readonly<Record<Purpose, string>> = {
  message: 'Say something',
  search: 'type, Ctrl-R for older ones, Enter takes it',
  refusal: 'Why not? (Enter sends)',
  arguments: 'Arguments as JSON (Enter runs)',
};

/** These wait for nothing. */
const leaving = /^\/(quit|exit|bye)\s*$/;
const usualLabel = '> ';
const leaveHint = 'Ctrl-C again to leave';
/** More than this of a paste stands in the input as a mark. */
const maxPasteShown = {lines: 10, characters: 2000};
const maxEditedCharacters = 20_000;

export class InputModel {
  readonly #history: InputHistory;
  readonly #keys = new KeyReader();
  readonly #listeners = new Set<() => void>();
  /** Long pastes stand in the text as a mark. */
  readonly #pastes = new Map<string, string>();
  #typed = typedFor('message', emptyEditor);
  #search: HistorySearch | null = null;
  #lastKey = '';

  constructor(history: InputHistory) {
    this.#history = history;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): TypedInput => this.#typed;

  /** Puts a text there that the person may change. What is being typed is not thrown away for it; the history has it, too. */
  setText(text: string): void {
    if (this.#typed.editor.text === '') this.#change(editorOf(this.#shortened(text)));
  }

  /** To be told when what was submitted has ended. */
  noteIdle(actions: InputActions): void {
    if (this.#typed.isWaiting) this.#submit(actions);
  }

  readChunk(chunk: string, state: ViewState, actions: InputActions): void {
    for (const key of this.#keys.push(chunk)) this.#readKey(key, state, actions);
  }

  #readKey(key: Key, state: ViewState, actions: InputActions): void {
    if (this.#search !== null && !this.#readSearch(this.#search, key)) return;
    const {editor} = this.#typed;
    if (key.type === 'paste') this.#change(insert(editor, this.#pasted(key.text)));
    else if (key.type === 'text' && this.#asksApproval(state)) this.#answerApproval(key.text, state, actions);
    else if (key.type === 'text') this.#change(insert(editor, key.text));
    else this.#readNamedKey(key.name, state, actions);
    this.#lastKey = key.type === 'key' ? key.name : '';
  }

  #asksApproval(state: ViewState): boolean {
    return state.phase === 'tool-approval' && this.#typed.purpose === 'message';
  }

  #answerApproval(text: string, state: ViewState, actions: InputActions): void {
    const letter = text[0]!.toLowerCase();
    if (letter === 'y') actions.approve({type: 'once'});
    if (letter === 'a' && state.canAllow) actions.approve({type: 'always'});
    if (letter === 'n') this.#turnTo('refusal', '');
    if (letter === 'e') this.#turnTo('arguments', state.activeCall?.function.arguments ?? '');
  }

  #turnTo(purpose: Purpose, text: string): void {
    this.#show(typedFor(purpose, editorOf(text)));
  }

  #readNamedKey(name: string, state: ViewState, actions: InputActions): void {
    switch (name) {
      case 'enter':
        return this.#enter(actions);
      case 'up':
      case 'down':
        return this.#walk(name === 'up' ? -1 : 1);
      case 'escape':
        return this.#escape(state, actions);
      case 'ctrl-c':
        return this.#interrupt(state, actions);
      case 'ctrl-d':
        return this.#typed.editor.text === '' ? actions.quit() : this.#edit(name);
      case 'ctrl-t':
        return actions.showThought();
      case 'ctrl-o':
        return actions.showLastCall();
      case 'ctrl-l':
        return actions.clearScreen();
      case 'ctrl-r':
        return this.#beginSearch();
      case 'ctrl-g':
        return this.#editOutside(state, actions);
      case 'ctrl-e':
        return this.#lastKey === 'ctrl-x' ? this.#editOutside(state, actions) : this.#edit(name);
      case 'ctrl-p':
        return state.phase === 'idle' ? actions.showInPager() : undefined;
      case 'tab':
        return this.#change(completeInput(this.#typed.editor));
      default:
        this.#edit(name);
    }
  }

  #edit(name: string): void {
    const edited = editByKey(this.#typed.editor, name);
    if (edited !== null) this.#change(edited);
  }

  #enter(actions: InputActions): void {
    const {editor} = this.#typed;
    if (this.#typed.purpose !== 'message') return this.#enterAnswer(actions);
    if (editor.text.endsWith('\\') && editor.cursor === editor.text.length) {
      return this.#change(editorOf(`${editor.text.slice(0, -1)}\n`));
    }
    if (editor.text.trim() === '') return;
    // One question at a time.
    if (leaving.test(editor.text)) return actions.quit();
    if (actions.isBusy()) return this.#show({...this.#typed, isWaiting: true});
    this.#submit(actions);
  }

  #submit(actions: InputActions): void {
    const text = this.#withPastes(this.#typed.editor.text);
    this.#change(emptyEditor);
    void this.#history.add(text);
    actions.submit(text);
  }

  #enterAnswer(actions: InputActions): void {
    const {editor, purpose} = this.#typed;
    const {text} = editor;
    const approval: Approval =
      purpose === 'refusal' ? {type: 'no', reason: text.trim()} : {type: 'edit', argumentsText: text};
    this.#turnTo('message', '');
    actions.approve(approval);
  }

  #walk(direction: -1 | 1): void {
    const {editor} = this.#typed;
    const moved = moveLine(editor, direction);
    if (moved !== null) return this.#change(moved);
    const entry = this.#history.walk(direction, editor.text);
    if (entry !== null) this.#change(editorOf(this.#shortened(entry)));
  }

  #beginSearch(): void {
    if (this.#typed.purpose !== 'message') return;
    this.#search = new HistorySearch(this.#history, this.#typed.editor);
    this.#showSearch(this.#search);
  }

  #showSearch({label, text}: HistorySearch): void {
    this.#show({...typedFor('search', editorOf(text)), label});
  }

  /** @returns true when the key means something after the search, too */
  #readSearch(search: HistorySearch, key: Key): boolean {
    const step = search.read(key);
    if (step.type === 'goes-on') {
      this.#showSearch(search);
      return false;
    }
    this.#search = null;
    this.#show(typedFor('message', step.type === 'given-up' ? step.editor : editorOf(step.text)));
    return step.type === 'left';
  }

  /** The program gets the whole terminal, so nothing may be drawn meanwhile. */
  #editOutside(state: ViewState, actions: InputActions): void {
    if (state.phase !== 'idle') return;
    const text = this.#withPastes(this.#typed.editor.text);
    void actions.editOutside(text).then((edited) => this.#change(editorOf(edited ?? text)));
  }

  #escape(state: ViewState, actions: InputActions): void {
    if (this.#typed.purpose !== 'message') return this.#turnTo('message', '');
    if (state.phase !== 'idle') return this.#stop(actions);
    if (this.#lastKey === 'escape' && this.#typed.editor.text === '') actions.submit('/edit');
  }

  /** Stops the answer, else clears the input, else leaves at the second time. */
  #interrupt(state: ViewState, actions: InputActions): void {
    if (state.phase !== 'idle') {
      if (this.#typed.purpose !== 'message') this.#turnTo('message', '');
      return this.#stop(actions);
    }
    if (this.#typed.editor.text !== '') return this.#change(emptyEditor);
    if (this.#typed.hint === leaveHint) return actions.quit();
    this.#show({...typedFor('message', emptyEditor), hint: leaveHint});
  }

  /** What waited for the end of the answer does not go on its own any more. */
  #stop(actions: InputActions): void {
    this.#show({...this.#typed, isWaiting: false});
    actions.stop();
  }

  #pasted(text: string): string {
    const numLines = text.split('\n').length;
    const isLong = numLines > maxPasteShown.lines;
    if (!isLong && text.length <= maxPasteShown.characters) return text;
    return this.#markFor(text, isLong ? `${numLines} lines` : `${text.length} characters`);
  }

  /** What comes back may be edited, unless nobody would want to. */
  #shortened(text: string): string {
    return text.length > maxEditedCharacters ? this.#markFor(text, `${text.length} characters`) : text;
  }

  #markFor(text: string, size: string): string {
    const mark = `[pasted ${size}${this.#pastes.size === 0 ? '' : ` #${this.#pastes.size + 1}`}]`;
    this.#pastes.set(mark, text);
    return mark;
  }

  #withPastes(text: string): string {
    let whole = text;
    for (const [mark, pasted] of this.#pastes) whole = whole.replace(mark, () => pasted);
    this.#pastes.clear();
    return whole;
  }

  #change(editor: Editor): void {
    this.#show(typedFor(this.#typed.purpose, editor));
  }

  #show(typed: TypedInput): void {
    this.#typed = typed;
    for (const listener of this.#listeners) listener();
  }
}

function typedFor(purpose: Purpose, editor: Editor): TypedInput {
  return {editor, label: usualLabel, hint: hints[purpose], isWaiting: false, purpose};
}
