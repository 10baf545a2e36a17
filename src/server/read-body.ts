/**
 * From the bytes of a request to its JSON value, with the rules and errors of the contract: media type, UTF-8, JSON
 * (vllm/entrypoints/serve/utils/api_utils.py, validate_json_request, and the body handling of FastAPI).
 */
import {SchemaError} from '../core/errors.ts';
import {schemaError} from '../core/protocol/openai/schema-errors.ts';
import {JsonIntegerError, JsonSyntaxError, parseJson} from '../core/util/parse-json.ts';

/** Bytes that are no UTF-8, or endless integers: the framework's own answer, outside the error shape of the application. */
export class UnreadableBodyError extends Error {
  readonly detail = 'There was an error parsing the body';

  constructor(cause: unknown) {
    super('The request body cannot be read', {cause});
    this.name = 'UnreadableBodyError';
  }
}

/**
 * Only the part before the first `;` counts, and it must fit exactly.
 * @throws SchemaError
 */
export function checkMediaType(contentType: string | undefined): void {
  const mediaType = (contentType ?? '').toLowerCase().split(';', 1)[0];
  if (mediaType === 'application/json') return;
  throw new SchemaError("1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed", {
    showsParameter: false,
  });
}

/** Strict; a byte-order mark is dropped. @throws UnreadableBodyError */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
  } catch (error) {
    throw new UnreadableBodyError(error);
  }
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonIntegerError) throw new UnreadableBodyError(error);
    if (!(error instanceof JsonSyntaxError)) throw error;
    const context = {error: error.message};
    throw schemaError([{type: 'json_invalid', path: [error.position], input: {}, context}]);
  }
}

/**
 * @param body null or empty when the request has none
 * @returns the JSON value with numbers as `parseJson` keeps them; null for an empty body
 * @throws SchemaError, UnreadableBodyError
 */
export function readJsonBody(body: Uint8Array | null, contentType: string | undefined): unknown {
  checkMediaType(contentType);
  return body === null || body.length === 0 ? null : readJson(decodeUtf8(body));
}
