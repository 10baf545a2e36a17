/**
 * Names request fields that the server accepts and ignores, once each: at debug level, or as a warning for the old names
 * of structured outputs, whose users would otherwise take an unconstrained answer for a constrained one.
 */
import type {Logger} from '../core/util/logger.ts';
import {isPlainObject} from '../core/util/parse-json.ts';

const REMOVED_FIELDS = new Set([
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'guided_decoding_backend',
  'guided_whitespace_pattern',
]);

/** Clients choose the names, so their number must have an end. */
const MAX_NAMES = 100;
const MAX_NAME_CHARACTERS = 100;

export class IgnoredFields {
  readonly #logger: Logger;
  readonly #knownFields: ReadonlySet<string>;
  readonly #named = new Set<string>();

  /** @param knownFields names that the endpoint knows */
  constructor(logger: Logger, knownFields: ReadonlySet<string>) {
    this.#logger = logger;
    this.#knownFields = knownFields;
  }

  /** @param body a raw body, of any type */
  report(body: unknown): void {
    if (!isPlainObject(body)) return;
    for (const name of Object.keys(body)) {
      const isNews = !this.#knownFields.has(name) && !this.#named.has(name);
      if (isNews && this.#named.size < MAX_NAMES) this.#reportFirst(name);
    }
  }

  #reportFirst(name: string): void {
    this.#named.add(name);
    const shown = name.slice(0, MAX_NAME_CHARACTERS);
    if (REMOVED_FIELDS.has(name)) {
      this.#logger.warn(
        {field: shown},
        `Request field ${shown} is no longer known: the answer is not constrained by it`,
      );
    } else this.#logger.debug({field: shown}, `Request field ${shown} is unknown and ignored`);
  }
}
