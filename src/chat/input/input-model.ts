/**
 * What is being typed and what keys do at each moment: edit, walk the history, complete, answer a question about a call,
 * stop, leave. Holds no text of the talk and draws nothing.
 */
import type {Approval} from '../conversation/run-turn.ts';
import type {ViewState} from '../state/view-state.ts';
import {completeInput} from './complete-input.ts';
import {type Editor, editByKey, editorOf, emptyEditor, insert, moveLine} from './editor.ts';
import type {InputHistory} from './history.ts';
import {type Key, KeyReader} from './key-reader.ts';

export interface InputActions {
  submit(text: string): void;
  stop(): void;
  approve(approval: Approval): void;
  showThought(): void;
  showLastCall(): void;
  clearScreen(): void;
  quit(): void;
}

export interface TypedInput {
  editor: Editor;
  /** Stands in the empty input. */
  hint: string;
}

/** The input may be about something else than a message. */
type Purpose = 'message' | 'refusal' | 'arguments';

const hints: Readonly<Record<Purpose, string>> = {
  message: 'Say something',
  refusal: 'Why not? (Enter sends)',
  arguments: 'Arguments as JSON (Enter runs)',
};

const leaveHint = 'Ctrl-C again to leave';
const pastedLinesShown = 10;

export class InputModel {
  readonly #history: InputHistory;
  readonly #keys = new KeyReader();
  readonly #listeners = new Set<() => void>();
  /** Long pastes stand in the text as a mark. */
  readonly #pastes = new Map<string, string>();
  #typed: TypedInput = {editor: emptyEditor, hint: hints.message};
  #purpose: Purpose = 'message';
  #lastKey = '';

  constructor(history: InputHistory) {
    this.#history = history;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): TypedInput => this.#typed;

  /** Puts a text there that the person may change. */
  setText(text: string): void {
    this.#change(editorOf(text));
  }

  readChunk(chunk: string, state: ViewState, actions: InputActions): void {
    for (const key of this.#keys.push(chunk)) this.#readKey(key, state, actions);
  }

  #readKey(key: Key, state: ViewState, actions: InputActions): void {
    const {editor} = this.#typed;
    if (key.type === 'paste') this.#change(insert(editor, this.#pasted(key.text)));
    else if (key.type === 'text' && this.#asksApproval(state)) this.#answerApproval(key.text, state, actions);
    else if (key.type === 'text') this.#change(insert(editor, key.text));
    else this.#readNamedKey(key.name, state, actions);
    this.#lastKey = key.type === 'key' ? key.name : '';
  }

  #asksApproval(state: ViewState): boolean {
    return state.phase === 'tool-approval' && this.#purpose === 'message';
  }

  #answerApproval(text: string, state: ViewState, actions: InputActions): void {
    const letter = text[0]!.toLowerCase();
    if (letter === 'y') actions.approve({type: 'once'});
    if (letter === 'a') actions.approve({type: 'always'});
    if (letter === 'n') this.#turnTo('refusal', '');
    if (letter === 'e') this.#turnTo('arguments', state.activeCall?.function.arguments ?? '');
  }

  #turnTo(purpose: Purpose, text: string): void {
    this.#purpose = purpose;
    this.#change(editorOf(text));
  }

  #readNamedKey(name: string, state: ViewState, actions: InputActions): void {
    switch (name) {
      case 'enter':
        return this.#enter(state, actions);
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
        return this.#search();
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

  #enter(state: ViewState, actions: InputActions): void {
    const {editor} = this.#typed;
    if (this.#purpose !== 'message') return this.#enterAnswer(actions);
    if (editor.text.endsWith('\\') && editor.cursor === editor.text.length) {
      return this.#change(editorOf(`${editor.text.slice(0, -1)}\n`));
    }
    // One question at a time; what was typed stays until the answer is there.
    if (state.phase !== 'idle' || editor.text.trim() === '') return;
    const text = this.#withPastes(editor.text);
    this.#change(emptyEditor);
    void this.#history.add(text);
    actions.submit(text);
  }

  #enterAnswer(actions: InputActions): void {
    const {text} = this.#typed.editor;
    const approval: Approval =
      this.#purpose === 'refusal' ? {type: 'no', reason: text.trim()} : {type: 'edit', argumentsText: text};
    this.#turnTo('message', '');
    actions.approve(approval);
  }

  #walk(direction: -1 | 1): void {
    const {editor} = this.#typed;
    const moved = moveLine(editor, direction);
    if (moved !== null) return this.#change(moved);
    const entry = this.#history.walk(direction, editor.text);
    if (entry !== null) this.#change(editorOf(entry));
  }

  #search(): void {
    const found = this.#history.search(this.#typed.editor.text);
    if (found !== null) this.#change(editorOf(found));
  }

  #escape(state: ViewState, actions: InputActions): void {
    if (this.#purpose !== 'message') return this.#turnTo('message', '');
    if (state.phase !== 'idle') return actions.stop();
    if (this.#lastKey === 'escape' && this.#typed.editor.text === '') actions.submit('/edit');
  }

  /** Stops the answer, else clears the input, else leaves at the second time. */
  #interrupt(state: ViewState, actions: InputActions): void {
    if (state.phase !== 'idle') {
      this.#turnTo('message', this.#purpose === 'message' ? this.#typed.editor.text : '');
      return actions.stop();
    }
    if (this.#typed.editor.text !== '') return this.#change(emptyEditor);
    if (this.#typed.hint === leaveHint) return actions.quit();
    this.#typed = {editor: emptyEditor, hint: leaveHint};
    this.#tellAll();
  }

  #pasted(text: string): string {
    const numLines = text.split('\n').length;
    if (numLines <= pastedLinesShown) return text;
    const mark = `[pasted ${numLines} lines${this.#pastes.size === 0 ? '' : ` #${this.#pastes.size + 1}`}]`;
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
    this.#typed = {editor, hint: hints[this.#purpose]};
    this.#tellAll();
  }

  #tellAll(): void {
    for (const listener of this.#listeners) listener();
  }
}
