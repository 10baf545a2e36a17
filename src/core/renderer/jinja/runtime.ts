/**
 * One render while it runs: its variables, its output, its limits, and what built-ins may ask of it. Compiled templates
 * are functions of a runtime and a scope.
 */
import type {Builtin, BuiltinContext} from './builtin.ts';
import {escapeMarkup} from './markup.ts';
import type {Meter} from './meter.ts';
import {Markup} from './objects.ts';
import {PythonError} from './python-error.ts';
import {str} from './text.ts';
import type {Value} from './values.ts';

/** Filters, tests and functions that templates find. */
export interface Environment {
  readonly filters: ReadonlyMap<string, Builtin>;
  readonly tests: ReadonlyMap<string, Builtin>;
  /** The functions that one render finds by name. */
  readonly createGlobals: (context: BuiltinContext) => ReadonlyMap<string, Value>;
}

/** The variables of one call: a slot each, and the scope of the code around it. */
export interface Scope {
  /** A slot that holds undefined was not set. */
  readonly slots: (Value | undefined)[];
  readonly parent: Scope | null;
}

export function createScope(size: number, parent: Scope | null): Scope {
  return {slots: new Array<Value | undefined>(size).fill(undefined), parent};
}

/** Runs a block of the template by name. */
export type BlockBody = (runtime: Runtime) => void;

export interface RuntimeOptions {
  readonly environment: Environment;
  readonly variables: ReadonlyMap<string, Value>;
  readonly blocks: ReadonlyMap<string, BlockBody>;
  readonly meter: Meter;
  readonly now: () => Date;
  /** Hears of what `generation` blocks have written, unless it is caught for later use. */
  readonly onGenerated?: (start: number, end: number) => void;
}

export class Runtime implements BuiltinContext {
  readonly filters: ReadonlyMap<string, Builtin>;
  readonly tests: ReadonlyMap<string, Builtin>;
  readonly now: () => Date;
  readonly meter: Meter;
  readonly blocks: ReadonlyMap<string, BlockBody>;
  /** Set by `autoescape` blocks. */
  autoescape = false;
  /** Where in the source the operation that runs stands; errors are reported there. */
  position = 0;
  /** What the template's top level has set, for blocks. */
  exported = new Map<string, Value>();
  readonly #variables: ReadonlyMap<string, Value>;
  readonly #globals: ReadonlyMap<string, Value>;
  readonly #onGenerated: RuntimeOptions['onGenerated'];
  #output = '';
  #numCaptures = 0;

  constructor({environment, variables, blocks, meter, now, onGenerated}: RuntimeOptions) {
    this.filters = environment.filters;
    this.tests = environment.tests;
    this.#globals = environment.createGlobals(this);
    this.#variables = variables;
    this.blocks = blocks;
    this.meter = meter;
    this.now = now;
    this.#onGenerated = onGenerated;
  }

  /** A name that the template does not set itself. */
  resolve(name: string): Value | undefined {
    for (const names of [this.exported, this.#variables, this.#globals]) {
      const value = names.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  get output(): string {
    return this.#output;
  }

  write(text: string): void {
    this.meter.stepsForText(text.length);
    this.#output += text;
    const {maxOutputLength} = this.meter.limits;
    if (this.#output.length > maxOutputLength) {
      throw new PythonError('MemoryError', `The template makes a text of more than ${maxOutputLength} characters.`);
    }
  }

  writeValue(value: Value): void {
    if (typeof value === 'string' && !this.autoescape) this.write(value);
    else this.write(this.autoescape ? escapeMarkup(value).text : str(value));
  }

  /** Writes the text of a `generation` block. */
  writeGenerated(value: Value): void {
    const start = this.#output.length;
    this.writeValue(value);
    if (this.#numCaptures === 0) this.#onGenerated?.(start, this.#output.length);
  }

  /** What `run` writes, instead of writing it. */
  capture<Result>(run: () => Result): {text: string; result: Result} {
    const outer = this.#output;
    this.#output = '';
    this.#numCaptures++;
    const result = run();
    this.#numCaptures--;
    const text = this.#output;
    this.#output = outer;
    return {text, result};
  }

  /** Captured text as a value: escaped already, where escaping is on. */
  asText(text: string): string | Markup {
    return this.autoescape ? new Markup(text) : text;
  }

  /** Runs something that may call itself. */
  nested<Result>(run: () => Result): Result {
    this.meter.enter();
    const result = run();
    this.meter.leave();
    return result;
  }

  /** The text that a macro or a recursive loop writes. */
  call(run: () => void): string | Markup {
    return this.asText(this.nested(() => this.capture(run).text));
  }
}
