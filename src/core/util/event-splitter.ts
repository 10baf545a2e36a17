/**
 * Bytes of an SSE stream to the data of its events. Works on bytes and decodes complete lines only, so neither a
 * character nor an event is ever cut by a read. Reads what servers really send: `data:` with and without the blank,
 * `\n` and `\r\n`, events of several data lines, comments and other fields.
 */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const fieldName = 'data:';
const usualStart = 'data: ';

export class EventSplitter {
  readonly #decoder = new TextDecoder();
  /** Beginning of a line whose end has not been read. */
  #tail: Uint8Array[] = [];
  /** Data lines of the event that is not complete yet. */
  #dataLines: string[] = [];

  /** @returns data of the events that these bytes complete, in order */
  push(bytes: Uint8Array): string[] {
    return this.#onlyEvent(bytes) ?? this.#split(bytes);
  }

  /** What servers send while they stream tokens: one whole event of one line. Read at one go, as there are so many. */
  #onlyEvent(bytes: Uint8Array): string[] | null {
    if (this.#tail.length > 0 || this.#dataLines.length > 0) return null;
    const lineEnd = bytes.length - 2;
    if (bytes.indexOf(lineFeed) !== lineEnd || bytes[lineEnd + 1] !== lineFeed) return null;
    if (bytes[lineEnd - 1] === carriageReturn) return null;
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, lineEnd).toString('utf8');
    return line.startsWith(usualStart) ? [line.slice(usualStart.length)] : null;
  }

  #split(bytes: Uint8Array): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      this.#takeLine(this.#lineUpTo(bytes.subarray(start, end)), events);
      start = end + 1;
    }
    if (start < bytes.length) this.#tail.push(Uint8Array.from(bytes.subarray(start)));
    return events;
  }

  /** What a stream that ends without an empty line leaves. */
  finish(): string[] {
    const events: string[] = [];
    if (this.#tail.length > 0) this.#takeLine(this.#lineUpTo(new Uint8Array()), events);
    this.#endEvent(events);
    return events;
  }

  #lineUpTo(last: Uint8Array): string {
    const line = this.#tail.length === 0 ? last : Buffer.concat([...this.#tail, last]);
    this.#tail = [];
    return this.#decoder.decode(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line);
  }

  #takeLine(line: string, events: string[]): void {
    if (line === '') this.#endEvent(events);
    else if (line.startsWith(fieldName)) this.#takeData(line.slice(fieldName.length), events);
  }

  /** Each chunk of a completion is one line of JSON; servers that forget the empty line after it are read all the same. */
  #takeData(value: string, events: string[]): void {
    const text = value.startsWith(' ') ? value.slice(1) : value;
    if (this.#dataLines.length > 0 && isWhole(this.#dataLines.join('\n'))) this.#endEvent(events);
    this.#dataLines.push(text);
  }

  #endEvent(events: string[]): void {
    if (this.#dataLines.length > 0) events.push(this.#dataLines.join('\n'));
    this.#dataLines = [];
  }
}

/** Only asked when an event has a second data line. */
function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
