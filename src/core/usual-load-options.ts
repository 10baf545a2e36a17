/** Loading a model as it comes, with its own template and defaults: what callers do not choose themselves. */
import type {LoadLlmOptions} from './llm.ts';

export const usualLoadOptions = {
  servedModelName: null,
  chatTemplate: null,
  chatTemplateContentFormat: 'auto',
  defaultChatTemplateKwargs: null,
  generationConfig: 'auto',
  overrideGenerationConfig: null,
  excludeToolsWhenToolChoiceNone: false,
  escapeControlTokens: false,
} as const satisfies Partial<LoadLlmOptions>;
