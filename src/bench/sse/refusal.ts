/** What an answer that is no stream of events says: in its body, and in what only its headers tell. */
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import {isPlainObject} from '../../core/util/parse-json.ts';
import {excerpt} from './answer-reader.ts';

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Events that are neither another kind of content nor compressed. */
export function isPlainStream(headers: AnswerHeaders): boolean {
  return headerText(headers, 'content-type').includes('text/event-stream') && encodingOf(headers) === null;
}

function headerText(headers: AnswerHeaders, name: string): string {
  return String(headers[name] ?? '').toLowerCase();
}

/** Null when the bytes are those of the answer itself, as was asked for. */
function encodingOf(headers: AnswerHeaders): string | null {
  const encoding = headerText(headers, 'content-encoding');
  return encoding === '' || encoding === 'identity' ? null : encoding;
}

/** Why an answer with status 200 is none that can be measured. @param bytes the beginning of its body */
export function notStreamMessage(bytes: Buffer, headers: AnswerHeaders): string {
  const encoding = encodingOf(headers);
  if (encoding !== null)
    return `The answer is compressed (${encoding}), which was not asked for and hides when events come.`;
  const contentType = headerText(headers, 'content-type') || 'none';
  return `The answer is no event stream (content-type ${contentType}): ${excerpt(bytes.toString('utf8'))}`;
}

/** What the server says, and what only its headers say: where it went, when to come again. */
export function refusalMessage(text: string, headers: AnswerHeaders): string {
  const {location, 'retry-after': retryAfter} = headers;
  const parts = [
    messageOf(text),
    ...(location === undefined ? [] : [`moved to ${location}`]),
    ...(retryAfter === undefined ? [] : [`retry after ${retryAfter} s`]),
  ];
  return parts.filter((part) => part !== '').join('; ') || 'no message';
}

/** The message of an error body in the form of OpenAI, of older servers or of web frameworks, else its text. */
export function messageOf(text: string): string {
  const body = jsonOrNull(text);
  if (!isPlainObject(body)) return excerpt(text);
  const {error, detail, message} = body;
  const named = isPlainObject(error) ? error.message : (error ?? detail ?? message);
  return typeof named === 'string' ? named : excerpt(text);
}
