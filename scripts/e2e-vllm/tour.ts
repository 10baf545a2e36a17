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

const parameters = {
  type: 'object',
  properties: {city: {enum: ['Oslo', 'Rome']}},
  required: ['city'],
  additionalProperties: false,
};
const weather = {type: 'function', function: {name: 'get_weather', parameters}};
const nameOf = ({function: {name}}: typeof weather) => ({type: 'function', function: {name}});

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
  chat('one of several words', {structured_outputs: {choice: ['red', 'green', 'blue']}}),
  chat('a grammar', {structured_outputs: {grammar: 'root ::= ("ab" | "cd")+ "."'}}),
  chat('a demanded call', {tools: [weather], tool_choice: 'required', max_tokens: 60}),
  chat('a named call, streamed', {tools: [weather], tool_choice: nameOf(weather), max_tokens: 40, stream: true}),
  chat('ends that are tokens, and none before four', {stop_token_ids: [40, 41, 42], min_tokens: 4}),
  chat('sampling with every filter', {temperature: 0.8, top_k: 5, top_p: 0.9, min_p: 0.05, seed: 11}),
  chat('ids of tokens', {return_token_ids: true, ignore_eos: true, max_tokens: 5}),
  chat('several choices, streamed', {n: 3, temperature: 1, seed: 5, stream: true}),
  chat('a prompt that is too long', {messages: [{role: 'user', content: 'sea '.repeat(100_000)}]}),
  {
    name: 'a completion',
    path: '/v1/completions',
    body: {prompt: 'The sea is', temperature: 0, max_tokens: 8, logprobs: 2},
  },
  {
    name: 'two prompts of token ids',
    path: '/v1/completions',
    body: {
      prompt: [
        [5, 6, 7],
        [8, 9],
      ],
      temperature: 0,
      max_tokens: 5,
      logprobs: 0,
    },
  },
  {
    name: 'a streamed prompt with its logprobs',
    path: '/v1/completions',
    body: {prompt: 'The sea', temperature: 0, max_tokens: 4, echo: true, logprobs: 1, stream: true},
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

/** What a stream says of each choice: its cuts are up to each server. */
function foldStream(text: string): unknown {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  const choices = events.flatMap((event) => JSON.parse(event.slice('data: '.length)).choices as StreamChoice[]);
  const folded: Record<number, {text: string; ends: string[]}> = {};
  for (const {index, delta, text: part, finish_reason: end} of choices) {
    folded[index] ??= {text: '', ends: []};
    const call =
      delta?.tool_calls?.map(({function: {name = '', arguments: given = ''}}) => name + given).join('') ?? '';
    folded[index].text += (part ?? delta?.content ?? '') + call;
    if (end) folded[index].ends.push(end);
  }
  return folded;
}

interface StreamChoice {
  index: number;
  delta?: {content?: string; tool_calls?: {function: {name?: string; arguments?: string}}[]};
  text?: string;
  finish_reason: string | null;
}

/** Without what differs from call to call. */
function plain({choices, error, usage, prompt_logprobs}: Record<string, unknown>): unknown {
  const withoutIds = (value: unknown) =>
    JSON.parse(JSON.stringify(value ?? null), (key, part) => (key === 'id' ? undefined : part));
  return {choices: withoutIds(choices), usage, prompt_logprobs, error};
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
