/**
 * Sends one request of a soak and reads the answer to its end, slowly, or only a part of it. Says what was wrong with an
 * answer that was read to the end: every choice has to end exactly once.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {EventSplitter} from '../../../src/core/util/event-splitter.ts';
import type {NextNumber, SoakRequest} from './traffic.ts';

/** `left`: the client went away on purpose. */
export interface SoakOutcome {
  end: 'complete' | 'left';
  fault: string | null;
}

interface WireChoice {
  index: number;
  text?: string;
  delta?: {content?: string | null};
  message?: {content: string | null};
  finish_reason: string | null;
}

interface Choice {
  text: string;
  finishes: string[];
}

/** How long a client stays that leaves early. */
const mostPatienceMs = 4_000;

export async function sendRequest(url: string, request: SoakRequest, next: NextNumber): Promise<SoakOutcome> {
  const leaves = next() < 0.3;
  const pauseMs = next() < 0.1 ? 40 : 0;
  const patience = new AbortController();
  const timer = leaves ? setTimeout(() => patience.abort(), next() ** 2 * mostPatienceMs) : undefined;
  try {
    const response = await fetch(url + request.path, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: JSON.stringify(request.body),
      signal: patience.signal,
    });
    if (response.status !== 200) return fault(`status ${response.status}: ${(await response.text()).slice(0, 200)}`);
    const choices = request.body.stream ? await readStream(response, pauseMs) : await readWhole(response);
    return {end: 'complete', fault: faultOf(choices, request)};
  } catch (error) {
    if (patience.signal.aborted) return {end: 'left', fault: null};
    return fault(String((error as Error).cause ?? error));
  } finally {
    clearTimeout(timer);
  }
}

const fault = (text: string): SoakOutcome => ({end: 'complete', fault: text});

async function readWhole(response: Response): Promise<Choice[]> {
  const {choices} = (await response.json()) as {choices: WireChoice[]};
  return choices.map(({message, text, finish_reason}) => ({
    text: message?.content ?? text ?? '',
    finishes: finish_reason === null ? [] : [finish_reason],
  }));
}

/** @throws Error when the stream tells of one, or does not end as streams do */
async function readStream(response: Response, pauseMs: number): Promise<Choice[]> {
  const choices: Choice[] = [];
  let isDone = false;
  for await (const data of eventsOf(response, pauseMs)) {
    if (isDone) throw new Error('an event came after [DONE]');
    if (data === '[DONE]') isDone = true;
    else for (const choice of choicesOf(data)) takeChunk(choices, choice);
  }
  if (!isDone) throw new Error('the stream ended without [DONE]');
  return choices;
}

async function* eventsOf(response: Response, pauseMs: number): AsyncGenerator<string> {
  const splitter = new EventSplitter();
  for await (const bytes of response.body!) {
    yield* splitter.push(bytes);
    if (pauseMs > 0) await delay(pauseMs);
  }
  yield* splitter.finish();
}

function choicesOf(data: string): WireChoice[] {
  const chunk = JSON.parse(data) as {choices?: WireChoice[]; error?: {message: string}};
  if (chunk.error) throw new Error(`the stream has an error: ${chunk.error.message}`);
  return chunk.choices ?? [];
}

function takeChunk(choices: Choice[], {index, delta, text, finish_reason}: WireChoice): void {
  choices[index] ??= {text: '', finishes: []};
  const choice = choices[index];
  if (choice.finishes.length > 0 && finish_reason === null) throw new Error(`choice ${index} goes on after its end`);
  choice.text += delta?.content ?? text ?? '';
  if (finish_reason !== null) choice.finishes.push(finish_reason);
}

function faultOf(choices: readonly Choice[], {numChoices, check}: SoakRequest): string | null {
  if (choices.length !== numChoices) return `${choices.length} choices instead of ${numChoices}`;
  for (const {text, finishes} of choices) {
    if (finishes.length !== 1) return `a choice ended ${finishes.length} times`;
    const wrong = finishes[0] === 'stop' ? (check?.(text) ?? null) : null;
    if (wrong !== null) return wrong;
  }
  return null;
}
