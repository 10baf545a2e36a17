/** What a failed exchange with a vLLM server means for the request: whose fault it is, and whether another server may help. */
import {EngineDeadError, GenerationError, OverloadedError, ValidationError} from '../../../errors.ts';
import {isPlainObject} from '../../../util/parse-json.ts';
import type {WireError} from './generate-answer.ts';

/** The request is refused: no server will take it. */
const CLIENT_FAULTS = [400, 422];
/** The server is not set up as it was when we looked: another key, another name of the model, no token route. */
const CHANGED_SERVER = [401, 403, 404];
/** Queue limits of the server or of a proxy, or it is about to stop. */
const BUSY = [429, 503];
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
  if (CLIENT_FAULTS.includes(code)) return new ValidationError(text, {param: param ?? null, showsParameter: false});
  if (BUSY.includes(code)) return new OverloadedError(text);
  if (text === ONE_REQUEST_FAILED) return new GenerationError(`${url} failed on the request: ${text}`);
  if (code >= SERVER_FAULT) return new EngineDeadError(`${url} failed: ${text}`);
  if (CHANGED_SERVER.includes(code)) return new EngineDeadError(`${url} answered with status ${code}: ${text}`);
  return new GenerationError(`${url} refused the request with status ${code}: ${text}`);
}

/** The connection was refused, was cut, or was silent for too long. */
export function errorOfConnection(cause: Error & {code?: string}, url: string): Error {
  const text = [cause.code, cause.message].filter((part) => part).join(': ');
  return new EngineDeadError(`No answer from ${url}: ${text}`, {cause});
}

/** What helps, by the code of the failure. */
const HINTS: {codes: string[]; hint: string}[] = [
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    hint: 'its certificate is not trusted here. Name the file with the certificate of its signer in the environment variable NODE_EXTRA_CA_CERTS',
  },
  {codes: ['CERT_HAS_EXPIRED'], hint: 'its certificate is out of date'},
  {codes: ['ERR_TLS_CERT_ALTNAME_INVALID'], hint: 'its certificate is for another name. Use that name in --engine-url'},
  {codes: ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'], hint: 'it speaks no TLS there. Use http://'},
];
const USUAL_HINT = 'Start vLLM there (vllm serve MODEL --enable-scale-out), or give another --engine-url';

/** Why there is no connection, and what helps. */
export function reasonOfConnection({name, message, code}: Error & {code?: unknown}): string {
  const what = name === 'TimeoutError' ? 'no answer in time' : typeof code === 'string' ? code : message;
  const known = HINTS.find(({codes}) => codes.includes(what));
  return known ? `${what}, ${known.hint}.` : `${what}. ${USUAL_HINT}.`;
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
