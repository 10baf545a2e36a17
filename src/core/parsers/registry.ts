/**
 * All formats by name: the built-in ones and those of plugins. A registry is an object that someone creates, so that two
 * servers in one process may know different plugins.
 */

import {ValidationError} from '../errors.ts';
import {builtInFormats} from './built-in-formats.ts';
import type {Format, ReasoningFormat, ToolFormat} from './format.ts';

export class ParserRegistry {
  readonly #tools = new Map<string, ToolFormat>();
  readonly #reasoning = new Map<string, ReasoningFormat>();

  constructor(formats: readonly Format[] = builtInFormats) {
    for (const format of formats) this.add(format);
  }

  /** A later format takes the names of an earlier one, so that a plugin can replace a built-in format. */
  add(format: Format): void {
    for (const name of format.names) {
      if (format.kind === 'tool') this.#tools.set(name, format);
      else this.#reasoning.set(name, format);
    }
  }

  /** Sorted, aliases included. */
  get toolNames(): string[] {
    return [...this.#tools.keys()].sort();
  }

  get reasoningNames(): string[] {
    return [...this.#reasoning.keys()].sort();
  }

  /** @throws ValidationError with all names, as vLLM words it */
  toolFormat(name: string): ToolFormat {
    return this.#tools.get(name) ?? unknownParser('tool call parser', name, this.toolNames);
  }

  /** @throws ValidationError with all names, as vLLM words it */
  reasoningFormat(name: string): ReasoningFormat {
    return this.#reasoning.get(name) ?? unknownParser('reasoning parser', name, this.reasoningNames);
  }
}

function unknownParser(what: string, name: string, names: readonly string[]): never {
  throw new ValidationError(`invalid ${what}: ${name} (chose from { ${names.join(',')} })`);
}
