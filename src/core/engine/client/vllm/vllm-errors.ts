/** What a failed exchange with a vLLM server means for the request: whose fault it is, and whether another server may help. */
import {EngineDeadError, GenerationError, OverloadedError, ValidationError} from '../../../errors.ts';
import {isPlainObject} from '../../../util/parse-json.ts';
import type {WireError} from './generate-answer.ts';

/** The request is refused: no server will take it. */
const CLIENT_FAULT = 400;
/** Queue limits of the server, or it is about to stop. */
const BUSY = 503;
/** From here on the server is at fault. */
const SERVER_FAULT = 500;

/** What servers say when they failed on one request only and go on with the others. */
const ONE_REQUEST_FAILED = 'Internal server error';

/** @param url of the server, for the log */
export function errorOfStatus(status: number, body: string, url: string): Error {
  return toError({code: status, ...readError(body)}, url);
}

/** @param error as an event of a stream or a body has it */
export function toError({message, param, code = SERVER_FAULT}: WireError, url: string): Error {
  const text = message ?? `status ${code}`;
  if (code === CLIENT_FAULT || code === 422)
    return new ValidationError(text, {param: param ?? null, showsParameter: false});
  if (code === BUSY) return new OverloadedError(text);
  if (text === ONE_REQUEST_FAILED) return new GenerationError(`${url} failed on the request: ${text}`);
  if (code >= SERVER_FAULT) return new EngineDeadError(`${url} failed: ${text}`);
  return new GenerationError(`${url} refused the request with status ${code}: ${text}`);
}

/** The connection was refused, was cut, or was silent for too long. */
export function errorOfConnection(cause: Error & {code?: string}, url: string): Error {
  const text = [cause.code, cause.message].filter((part) => part).join(': ');
  return new EngineDeadError(`No answer from ${url}: ${text}`, {cause});
}

function readError(body: string): WireError {
  const text = body.trim().slice(0, 500);
  try {
    const parsed: unknown = JSON.parse(body);
    const error = isPlainObject(parsed) ? (parsed.error ?? parsed.detail) : parsed;
    if (isPlainObject(error))
      return {message: String(error.message ?? text), param: (error.param ?? null) as string | null};
    return {message: typeof error === 'string' ? error : text};
  } catch {
    return {message: text === '' ? 'no further words' : text};
  }
}
