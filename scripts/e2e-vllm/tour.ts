/** The same requests to vLLM and to our front before it: greedy answers, numbers and errors must be the same. */

interface Tour {
  /** vLLM itself. */
  direct: string;
  /** Our server before it. */
  front: string;
  /** The name that both have for the model. */
  model: string;
}

export interface TourResult {
  name: string;
  /** Null when both answered the same. */
  fault: string | null;
}

interface TourStep {
  name: string;
  path: string;
  body: Record<string, unknown>;
}

const messages = [{role: 'user', content: 'Tell me about the sea.'}];
const chat = (name: string, body: Record<string, unknown>): TourStep => ({
  name,
  path: '/v1/chat/completions',
  body: {messages, temperature: 0, max_tokens: 16, ...body},
});

const steps: TourStep[] = [
  chat('chat', {}),
  chat('chat, streamed', {stream: true, stream_options: {include_usage: true}}),
  chat('several choices with a seed', {n: 2, temperature: 1, seed: 7}),
  chat('logprobs', {logprobs: true, top_logprobs: 3}),
  chat('prompt logprobs', {prompt_logprobs: 1}),
  chat('a stop string', {stop: ['e']}),
  chat('biases and allowed tokens', {logit_bias: {'40': 100}, max_tokens: 4}),
  chat('penalties', {presence_penalty: 1, frequency_penalty: 0.5, repetition_penalty: 1.1}),
  chat('a regular expression', {structured_outputs: {regex: '[0-9]{4}'}}),
  chat('a JSON schema', {
    max_tokens: 40,
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'a',
        schema: {type: 'object', properties: {a: {enum: [1]}}, required: ['a'], additionalProperties: false},
      },
    },
  }),
  chat('words that may not come', {bad_words: ['sea']}),
  chat('a prompt that is too long', {messages: [{role: 'user', content: 'sea '.repeat(100_000)}]}),
  {
    name: 'a completion',
    path: '/v1/completions',
    body: {prompt: 'The sea is', temperature: 0, max_tokens: 8, logprobs: 2},
  },
  {
    name: 'a prompt with its logprobs',
    path: '/v1/completions',
    body: {prompt: 'The sea', temperature: 0, max_tokens: 2, echo: true, logprobs: 1},
  },
];

export async function runTour({direct, front, model}: Tour): Promise<TourResult[]> {
  const results: TourResult[] = [];
  for (const {name, path, body} of steps) {
    const [ours, theirs] = await Promise.all([front, direct].map((url) => ask(url + path, {model, ...body})));
    results.push({name, fault: differenceOf(ours!, theirs!)});
  }
  return results;
}

async function ask(url: string, body: object): Promise<unknown> {
  const headers = {'content-type': 'application/json'};
  const response = await fetch(url, {method: 'POST', headers, body: JSON.stringify(body)});
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  return {status: response.status, answer: isStream ? foldStream(text) : plain(JSON.parse(text))};
}

/** The text of a stream: its cuts are up to each server. */
function foldStream(text: string): string {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)));
  return chunks.map(({choices}) => choices[0]?.delta?.content ?? '').join('');
}

/** Without what differs from call to call. */
function plain({choices, error, usage, prompt_logprobs}: Record<string, unknown>): unknown {
  return {choices, usage, prompt_logprobs, error};
}

function differenceOf(ours: unknown, theirs: unknown, path = ''): string | null {
  if (typeof ours === 'number' && typeof theirs === 'number') {
    return Math.abs(ours - theirs) < 1e-3 ? null : `${path}: ${ours} here, ${theirs} there`;
  }
  if (typeof ours !== 'object' || typeof theirs !== 'object' || ours === null || theirs === null) {
    const isSame = ours === theirs || (ours ?? null) === (theirs ?? null);
    return isSame ? null : `${path}: ${JSON.stringify(ours)} here, ${JSON.stringify(theirs)} there`;
  }
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  for (const key of keys) {
    const [left, right] = [ours, theirs].map((value) => (value as Record<string, unknown>)[key]);
    const difference = differenceOf(left, right, `${path}/${key}`);
    if (difference !== null) return difference;
  }
  return null;
}
