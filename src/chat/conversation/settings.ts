/** What every request of a talk carries besides its messages: system message, sampling fields, template variables. */
import type {ChatRequestBody} from '../backend/backend.ts';
import type {ChatOptions} from '../options.ts';
import {type KeepReasoning, type TalkMessage, toWireMessages} from './messages.ts';

export interface TalkSettings {
  systemPrompt: string | null;
  /** Fields of the request, by their names on the wire. */
  fields: Record<string, unknown>;
  templateKwargs: Record<string, unknown>;
  keepReasoning: KeepReasoning;
}

type SamplingOptions = Pick<
  ChatOptions,
  'temperature' | 'topP' | 'topK' | 'minP' | 'maxTokens' | 'seed' | 'extraBody' | 'chatTemplateKwargs'
>;

export function settingsFromOptions(options: SamplingOptions, systemPrompt: string | null): TalkSettings {
  const {temperature, topP: top_p, topK: top_k, minP: min_p, maxTokens: max_tokens, seed} = options;
  const fields = {temperature, top_p, top_k, min_p, max_tokens, seed};
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  return {
    systemPrompt,
    fields: {...Object.fromEntries(given), ...options.extraBody},
    templateKwargs: options.chatTemplateKwargs ?? {},
    keepReasoning: 'auto',
  };
}

export function requestBody(
  talk: readonly TalkMessage[],
  settings: TalkSettings,
  tools: readonly object[],
): ChatRequestBody {
  const {systemPrompt, fields, templateKwargs, keepReasoning} = settings;
  const messages = toWireMessages(talk, keepReasoning);
  return {
    messages: systemPrompt === null ? messages : [{role: 'system', content: systemPrompt}, ...messages],
    ...fields,
    ...(Object.keys(templateKwargs).length > 0 && {chat_template_kwargs: templateKwargs}),
    ...(tools.length > 0 && {tools: [...tools]}),
  };
}
