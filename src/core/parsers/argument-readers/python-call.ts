/**
 * A call in Python syntax, `name(key=value, ...)`: keyword arguments become a JSON object, positional ones are read over.
 * It is a call once its first argument has begun or its parentheses are closed.
 */

import type {ArgumentReader, CreateReader, ReaderState, ReaderStep} from '../argument-reader.ts';
import {type PythonValueOptions, PythonValueReader} from './python-value.ts';

const NAME = /^[A-Za-z_][\w.-]*/;
const KEYWORD = /^([A-Za-z_]\w*)\s*=(?!=)/;
/** A keyword that is not there in whole yet. */
const MAYBE_KEYWORD = /^[A-Za-z_]\w*\s*=?$/;

type Part = 'name' | 'argument' | 'value' | 'separator';

export function pythonCall(options: PythonValueOptions = {}): CreateReader {
  return () => new PythonCallReader(options);
}

class PythonCallReader implements ArgumentReader {
  name: string | undefined;
  readonly #options: PythonValueOptions;
  #functionName = '';
  #text = '';
  #part: Part = 'name';
  #value: PythonValueReader | undefined;
  #isPositional = false;
  #json = '';
  #numArguments = 0;

  constructor(options: PythonValueOptions) {
    this.#options = options;
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#run(false);
  }

  finish(): ReaderStep {
    const step = this.#run(true);
    if (step.state !== 'more') return step;
    return {...step, state: this.name === undefined ? 'failed' : 'done'};
  }

  #run(final: boolean): ReaderStep {
    let state: ReaderState | 'wait' = 'more';
    while (state === 'more' && this.#text !== '') state = this.#read(final);
    if (state === 'wait' || state === 'more') return {json: this.#takeJson(), state: 'more', rest: ''};
    const rest = this.#text;
    this.#text = '';
    return {json: this.#takeJson(), state, rest};
  }

  #read(final: boolean): ReaderState | 'wait' {
    if (this.#part === 'value' && this.#value !== undefined) return this.#readValue(this.#value, final);
    this.#text = this.#text.trimStart();
    if (this.#text === '') return 'wait';
    if (this.#part === 'name') return this.#readName();
    return this.#part === 'argument' ? this.#readArgument(final) : this.#readSeparator();
  }

  #readName(): ReaderState | 'wait' {
    const name = NAME.exec(this.#text)?.[0];
    if (name === undefined) return 'failed';
    const behind = this.#text.slice(name.length).trimStart();
    if (behind === '') return 'wait';
    if (!behind.startsWith('(')) return 'failed';
    this.#functionName = name;
    this.#text = behind.slice(1);
    this.#part = 'argument';
    return 'more';
  }

  #readArgument(final: boolean): ReaderState | 'wait' {
    if (this.#text.startsWith(')')) return this.#close();
    const keyword = KEYWORD.exec(this.#text);
    const mayGrow = MAYBE_KEYWORD.test(this.#text) || keyword?.[0].length === this.#text.length;
    if (mayGrow && !final) return 'wait';
    this.#beginValue(keyword);
    return 'more';
  }

  #beginValue(keyword: RegExpExecArray | null): void {
    this.#isPositional = keyword === null;
    this.#value = new PythonValueReader(this.#options);
    this.#part = 'value';
    if (keyword === null) return;
    this.name = this.#functionName;
    this.#text = this.#text.slice(keyword[0].length);
    this.#json += `${this.#numArguments++ === 0 ? '{' : ', '}${JSON.stringify(keyword[1])}: `;
  }

  #readValue(value: PythonValueReader, final: boolean): ReaderState | 'wait' {
    const step = value.push(this.#text, final);
    this.#text = step.rest;
    if (!this.#isPositional) this.#json += step.json;
    if (step.state === 'failed') return 'failed';
    if (step.state === 'done') this.#part = 'separator';
    return step.state === 'done' ? 'more' : 'wait';
  }

  #readSeparator(): ReaderState {
    if (this.#text.startsWith(')')) return this.#close();
    if (!this.#text.startsWith(',')) return 'failed';
    this.#text = this.#text.slice(1);
    this.#part = 'argument';
    return 'more';
  }

  #close(): ReaderState {
    this.#text = this.#text.slice(1);
    this.name = this.#functionName;
    this.#json += this.#numArguments === 0 ? '{}' : '}';
    return 'done';
  }

  #takeJson(): string {
    const json = this.#json;
    this.#json = '';
    return json;
  }
}
