/**
 * Schemas without references, for those who look into a schema while they read or write a value. What two references name
 * stays one object, and a schema that contains itself becomes a cycle: whoever descends needs a limit of their own.
 */

import type {JsonSchema} from './output-parser.ts';

/** References to a place in the schema itself are replaced by what stands there; others are left alone. */
export function inlineReferences(schema: JsonSchema): JsonSchema {
  return new Inliner(schema).inline(schema, 0) as JsonSchema;
}

/** A chain of references that is longer leads nowhere. */
const MAX_CHAIN = 16;
/** Schemas below say nothing. */
const MAX_DEPTH = 100;

class Inliner {
  readonly #root: unknown;
  readonly #made = new Map<unknown, unknown>();

  constructor(root: unknown) {
    this.#root = root;
  }

  inline(schema: unknown, depth: number): unknown {
    const named = this.#follow(schema);
    if (typeof named !== 'object' || named === null) return named;
    if (this.#made.has(named)) return this.#made.get(named);
    if (depth > MAX_DEPTH) return {};
    const made: unknown[] | Record<string, unknown> = Array.isArray(named) ? [] : {};
    this.#made.set(named, made);
    const parts = Object.entries(named).map(([key, part]) => [key, this.inline(part, depth + 1)]);
    return Object.assign(made, Object.fromEntries(parts));
  }

  #follow(schema: unknown): unknown {
    let named = schema;
    for (let count = 0; count < MAX_CHAIN; count++) {
      const reference = referenceOf(named);
      if (reference === undefined) return named;
      named = this.#lookUp(reference) ?? {};
    }
    return {};
  }

  #lookUp(reference: string): unknown {
    const steps = reference.split('/').slice(1).map(unescapeStep);
    return steps.reduce<unknown>((place, step) => ownValue(place, step), this.#root);
  }
}

function referenceOf(schema: unknown): string | undefined {
  const reference = ownValue(schema, '$ref');
  return typeof reference === 'string' && reference.startsWith('#') ? reference : undefined;
}

function ownValue(place: unknown, key: string): unknown {
  if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
  return (place as Record<string, unknown>)[key];
}

const unescapeStep = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
