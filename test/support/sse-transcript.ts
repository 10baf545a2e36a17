/** An event stream as a client reads it: the raw text of a body as events, and the parts that tests look at. */

export interface StreamChunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {role?: string; content?: string};
    logprobs: null;
    finish_reason: string | null;
    stop_reason?: string | number | null;
    token_ids?: number[] | null;
    weight_versions?: unknown;
  }[];
  usage?: Record<string, unknown>;
  system_fingerprint?: string;
  prompt_token_ids?: number[] | null;
  prompt_text?: string | null;
}

/** The pieces between empty lines; a body that does not end with one throws. */
export function sseBlocks(body: string): string[] {
  if (!body.endsWith('\n\n')) throw new Error(`The stream does not end with an empty line: ${body.slice(-40)}`);
  return body.slice(0, -2).split('\n\n');
}

/** The JSON of every event but the end mark; comments are left out. */
export function sseEvents<T = StreamChunk>(body: string): T[] {
  return sseBlocks(body)
    .filter((block) => !block.startsWith(':') && block !== 'data: [DONE]')
    .map((block) => JSON.parse(block.slice('data: '.length)) as T);
}

/** The text of one choice. */
export function streamedText(chunks: StreamChunk[], choice = 0): string {
  const choices = chunks.flatMap((chunk) => chunk.choices).filter(({index}) => index === choice);
  return choices.map(({delta}) => delta.content ?? '').join('');
}
