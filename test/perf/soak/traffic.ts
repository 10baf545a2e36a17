/**
 * The requests of a soak: a table of kinds, from which one is drawn with a weight. A body is made of random numbers alone, so that a
 * seed gives the same traffic again.
 */
export interface SoakRequest {
  kind: string;
  path: string;
  body: Record<string, unknown>;
  /** Choices that the answer must have. */
  numChoices: number;
  /** What the text of every complete choice must be; says what is wrong, or null. */
  check?: (text: string) => string | null;
}

/** Numbers in [0, 1). */
export type NextNumber = () => number;

interface Kind {
  weight: number;
  make: (next: NextNumber) => Omit<SoakRequest, 'kind'>;
}

const pick = <T>(items: readonly T[], next: NextNumber): T => items[Math.floor(next() * items.length)] as T;
const between = (low: number, high: number, next: NextNumber) => Math.floor(low + next() * (high - low + 1));

const topics = [
  'the sea',
  'a lighthouse',
  'bread',
  'the number seven',
  'rain in May',
  'old maps',
  'a small robot',
  'tea',
];
const tasks = [
  'Tell me about',
  'Write a poem about',
  'Ask me three questions about',
  'Explain to a child',
  'List facts about',
];
const sentence = (next: NextNumber) => `${pick(tasks, next)} ${pick(topics, next)}.`;

const sampling = (next: NextNumber) => ({
  temperature: pick([0, 0.7, 1.3], next),
  top_p: pick([1, 0.9], next),
  ...(next() < 0.3 && {top_k: between(1, 2000, next)}),
  ...(next() < 0.2 && {repetition_penalty: 1.2, presence_penalty: 0.5}),
  ...(next() < 0.2 && {seed: between(0, 1000, next)}),
  ...(next() < 0.2 && {logprobs: true, top_logprobs: 3}),
  ...(next() < 0.2 && {stop: ['.\n', 'the']}),
});

function chat(next: NextNumber, fields: Record<string, unknown> = {}, content = sentence(next)) {
  const body = {
    messages: [{role: 'user', content}],
    max_tokens: between(1, 48, next),
    stream: next() < 0.7,
    ...sampling(next),
    ...fields,
  };
  return {path: '/v1/chat/completions', body, numChoices: 1};
}

/** Sampling that cannot disturb a constraint. */
const undisturbed = {temperature: 1, stop: null, repetition_penalty: 1, logprobs: false, top_logprobs: null};

const personSchema = {
  type: 'object',
  properties: {name: {type: 'string', maxLength: 12}, age: {type: 'integer', minimum: 0, maximum: 99}},
  required: ['name', 'age'],
};

const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Weather of a city',
      parameters: {
        type: 'object',
        properties: {city: {type: 'string', maxLength: 10}},
        required: ['city'],
      },
    },
  },
];

function isJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return `no JSON: ${text.slice(0, 80)}`;
  }
}

const kinds: Record<string, Kind> = {
  chat: {weight: 6, make: (next) => chat(next)},
  'several choices': {
    weight: 2,
    make: (next) => ({...chat(next, {n: 3, temperature: 1}), numChoices: 3}),
  },
  'long prompt': {
    weight: 2,
    make: (next) => chat(next, {}, Array.from({length: between(40, 140, next)}, () => sentence(next)).join(' ')),
  },
  'JSON schema': {
    weight: 2,
    make: (next) => ({
      ...chat(next, {
        ...undisturbed,
        max_tokens: 64,
        response_format: {type: 'json_schema', json_schema: {name: 'person', schema: personSchema}},
      }),
      check: isJson,
    }),
  },
  regex: {
    weight: 1,
    make: (next) => ({
      ...chat(next, {...undisturbed, max_tokens: 40, structured_outputs: {regex: '[a-z]{3,8}-[0-9]{2}'}}),
      check: (text) => (/^[a-z]{3,8}-[0-9]{2}$/.test(text) ? null : `does not match: ${text}`),
    }),
  },
  'required tool': {
    weight: 1,
    make: (next) => chat(next, {...undisturbed, max_tokens: 96, tools, tool_choice: 'required'}),
  },
  'tool if wanted': {weight: 1, make: (next) => chat(next, {tools})},
  'beam search': {
    weight: 1,
    make: (next) => ({
      ...chat(next, {...undisturbed, use_beam_search: true, n: 2, temperature: 0, max_tokens: 6}),
      numChoices: 2,
    }),
  },
  'two prompts': {
    weight: 1,
    make: (next) => ({
      path: '/v1/completions',
      body: {
        prompt: [sentence(next), 'Once upon a time'],
        max_tokens: between(1, 24, next),
        temperature: 0.8,
        stream: next() < 0.5,
      },
      numChoices: 2,
    }),
  },
};

export function drawRequest(next: NextNumber): SoakRequest {
  const entries = Object.entries(kinds);
  let rest = next() * entries.reduce((sum, [, {weight}]) => sum + weight, 0);
  const [kind, {make}] = entries.find(([, {weight}]) => (rest -= weight) < 0) ?? (entries[0] as [string, Kind]);
  return {kind, ...make(next)};
}
