/** What decides about rendering besides the command line: the kind of the model, and variables of the environment. */
import type {Tokenizer} from '../model/tokenizer.ts';
import {knowsHarmony} from './harmony/render-harmony.ts';
import type {RendererOptions} from './renderer-options.ts';

export interface RendererFacts {
  /** `model_type` of the model's configuration. */
  modelType: string;
  tokenizer: Tokenizer;
  env: Readonly<Record<string, string | undefined>>;
}

export function readRendererSettings({
  modelType,
  tokenizer,
  env,
}: RendererFacts): Pick<RendererOptions, 'harmony' | 'renderTimeoutSeconds'> {
  const isHarmony = modelType === 'gpt_oss' && knowsHarmony(tokenizer);
  const timeout = Number(env.VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT || Number.NaN);
  return {
    harmony: isHarmony ? harmonyOptions(env) : null,
    ...(timeout >= 0 ? {renderTimeoutSeconds: timeout} : {}),
  };
}

function harmonyOptions(env: RendererFacts['env']): NonNullable<RendererOptions['harmony']> {
  return {
    date: () => env.VLLM_SYSTEM_START_DATE || localDate(new Date()),
    hasSystemInstructions: env.VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS === '1',
  };
}

/** `YYYY-MM-DD` in the time zone of the server. */
function localDate(now: Date): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return [now.getFullYear(), twoDigits(now.getMonth() + 1), twoDigits(now.getDate())].join('-');
}
