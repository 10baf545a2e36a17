/** What goes wrong between the chat and a server, in words for the person who looks at it. */
import type {Dispatcher} from 'undici';
import {ServingError} from '../../core/errors.ts';
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import {withoutControls} from '../safe-text.ts';
import {ConnectionLostError} from './backend.ts';
import {errorMessageOf} from './chunk-reader.ts';

const howToStart = 'Start a server with `parlance serve`, or leave --url out to talk to a model in this machine.';

const howToTrust = 'NODE_EXTRA_CA_CERTS names a file with the certificate to trust.';
const howToGiveKey = '--api-key or OPENAI_API_KEY says the key.';

/** What to try, by the code of the failure. */
const adviceByCode: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'It does not speak https; try http://.',
  DEPTH_ZERO_SELF_SIGNED_CERT: howToTrust,
  SELF_SIGNED_CERT_IN_CHAIN: howToTrust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: howToTrust,
  UND_ERR_SOCKET: 'It closed the connection. Is it still there, and does it speak http and not https?',
};

/** What to try, by the status of an answer. */
const adviceByStatus: Readonly<Record<number, string>> = {
  401: howToGiveKey,
  403: howToGiveKey,
};

const maxReasonCharacters = 300;

/** Nothing came back at all. @param waitedMs until it was given up */
export function noAnswer(cause: Error & {code?: string}, url: URL, waitedMs: number): ConnectionLostError {
  const reason = cause.name === 'TimeoutError' ? `not within ${waitedMs / 1000} s` : (cause.code ?? cause.message);
  const advice = adviceByCode[cause.code ?? ''] ?? howToStart;
  return new ConnectionLostError(`Nothing answers at ${url.origin} (${reason}). ${advice}`, {cause});
}

/** The connection broke after the answer had begun to come. */
export function brokenAnswer(cause: Error): ConnectionLostError {
  return new ConnectionLostError(`The connection ended in the middle of the answer (${cause.message})`, {cause});
}

/** An answer with a status of 400 or more. */
export async function refusal({statusCode, headers, body}: Dispatcher.ResponseData, url: URL): Promise<ServingError> {
  const reason = withoutControls(reasonIn(await body.text())) || 'no reason given';
  const id = headers['x-request-id'];
  const what = `${statusCode} from ${url.pathname}${id ? `, request ${id}` : ''}`;
  const isWrongPlace = statusCode === 404 && url.pathname.endsWith('/models');
  const advice = isWrongPlace ? `Is ${url.origin} the right address?` : adviceByStatus[statusCode];
  return new ServingError(`${reason} (${what})${advice ? `. ${advice}` : ''}`);
}

/** Of pages for browsers only the words count. */
function reasonIn(text: string): string {
  const message = errorMessageOf(jsonOrNull(text));
  if (message !== null) return message;
  const words = text.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  return words.trim().slice(0, maxReasonCharacters);
}
