/** From samples to planned requests: bodies in the form of the endpoint, ids, places in the plan. */
import type {BenchSettings} from '../bench-settings.ts';
import type {Message, Sample, SampleTurn} from '../datasets/dataset.ts';
import type {Session} from '../load/session.ts';
import type {PlannedRequest} from '../request-record.ts';

/** Where a server is asked to tell token counts. */
export type UsageDetail = 'every-event' | 'at-end' | 'none';

export interface BodyOptions {
  settings: BenchSettings;
  model: string;
  ignoresEos: boolean;
  usageDetail: UsageDetail;
  idPrefix: string;
}

/** @param offsets seconds from the start, one for each sample */
export function planSessions(samples: readonly Sample[], offsets: readonly number[], options: BodyOptions): Session[] {
  let index = 0;
  return samples.map((sample, place) => ({
    offsetSeconds: offsets[place],
    turns: sample.turns.map((turn, number) => {
      const request = plannedRequest(sample, turn, {index, turn: number}, options);
      index++;
      return request;
    }),
  }));
}

function plannedRequest(
  sample: Sample,
  turn: SampleTurn,
  {index, turn: number}: {index: number; turn: number},
  options: BodyOptions,
): PlannedRequest {
  return {
    index,
    requestId: `${options.idPrefix}${index}`,
    body: requestBody(turn, options),
    promptTokens: turn.promptTokens,
    outputTokens: turn.outputTokens,
    sourceId: sample.id,
    turn: number,
    cancelAfterEvents: null,
  };
}

/** The body of one request; keys that were not asked for are absent. */
export function requestBody(turn: SampleTurn, {settings, model, ignoresEos, usageDetail}: BodyOptions) {
  const isChat = settings.backend === 'openai-chat' || settings.backend === 'http';
  const streams = settings.backend !== 'http';
  return {
    model,
    ...(isChat ? {messages: turn.messages} : {prompt: turn.tokenIds ?? promptText(turn.messages)}),
    ...(turn.outputTokens !== null && {[isChat ? 'max_completion_tokens' : 'max_tokens']: turn.outputTokens}),
    ...(ignoresEos && {ignore_eos: true}),
    ...samplingFields(settings),
    ...logprobFields(settings, isChat),
    ...(settings.chatTemplateKwargs !== null && isChat && {chat_template_kwargs: settings.chatTemplateKwargs}),
    ...turn.fields,
    stream: streams,
    ...(streams && usageFields[usageDetail]),
    ...settings.extraBody,
  };
}

const usageFields: Readonly<Record<UsageDetail, object>> = {
  'every-event': {stream_options: {include_usage: true, continuous_usage_stats: true}},
  'at-end': {stream_options: {include_usage: true}},
  none: {},
};

/** Text completions have no roles. */
function promptText(messages: readonly Message[]): string {
  return messages.map(({content}) => String(content)).join('\n');
}

const samplingNames = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  min_p: 'minP',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  repetition_penalty: 'repetitionPenalty',
} as const;

function samplingFields(settings: BenchSettings): Record<string, number> {
  return Object.fromEntries(
    Object.entries(samplingNames).flatMap(([field, key]) => {
      const value = settings[key];
      return value === null ? [] : [[field, value]];
    }),
  );
}

function logprobFields({logprobs}: BenchSettings, isChat: boolean): Record<string, unknown> {
  if (logprobs === null) return {};
  return isChat ? {logprobs: true, top_logprobs: logprobs} : {logprobs};
}
