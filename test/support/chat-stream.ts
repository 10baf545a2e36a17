/** A chat request over a real socket, and its stream read event by event. */

export const capitalQuestion = [{role: 'user', content: 'What is the capital of France?'}];
export const capitalAnswer = 'The capital of France is Paris.';
/** Leads to an answer of hundreds of tokens. */
export const longQuestion = [{role: 'user', content: 'Write a long story about a lighthouse keeper.'}];

export type Json = Record<string, unknown>;

/** Sends a request to `/v1/chat/completions`. */
export function postChat(url: string, body: Json, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify(body),
    ...(signal && {signal}),
  });
}

/** The text of a whole answer. */
export async function askWhole(url: string, body: Json): Promise<string> {
  const response = await postChat(url, body);
  const answer = (await response.json()) as {choices: {message: {content: string}}[]};
  return answer.choices[0]!.message.content;
}

/** The data of every event; the last one of a whole stream is `[DONE]`. */
export async function* eventData(response: Response): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let buffer = '';
  for await (const bytes of response.body!) {
    buffer += decoder.decode(bytes, {stream: true});
    const events = buffer.split('\n\n');
    buffer = events.pop()!;
    for (const event of events) yield event.replace(/^data: /, '');
  }
}
