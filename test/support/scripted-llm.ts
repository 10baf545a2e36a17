/**
 * The real text side over a scripted engine: tokenizer, renderer and chat template of the embedded model, token ids as
 * the test gives them. For tests of the server and of everything else that talks to an `Llm`.
 */
import {join} from 'node:path';
import type {AnswerFormats} from '../../src/core/answer-reader.ts';
import type {GenerationConfig} from '../../src/core/config/generation-config.ts';
import type {StructuredOutputsConfig} from '../../src/core/config/structured-outputs-config.ts';
import {createLlm, type Llm} from '../../src/core/llm.ts';
import {findChatTemplates} from '../../src/core/renderer/find-chat-template.ts';
import {createRenderer, type RendererOptions} from '../../src/core/renderer/render-chat.ts';
import type {Logger} from '../../src/core/util/logger.ts';
import {embeddedModelFolder, embeddedTokenizer} from './embedded-model.ts';
import {playTokens, ScriptedEngineClient, type ScriptedEngineOptions} from './scripted-engine-client.ts';

export interface ScriptedLlmOptions extends Partial<ScriptedEngineOptions> {
  /** Played one token at a time and ended by the end token, when no script is given. */
  answer?: string;
  generation?: Partial<GenerationConfig>;
  renderer?: Partial<RendererOptions>;
  /** What answers are read with; without it they are text. */
  formats?: AnswerFormats;
  structuredOutputsConfig?: StructuredOutputsConfig;
  logger?: Logger;
}

export interface ScriptedLlm {
  llm: Llm;
  engine: ScriptedEngineClient;
}

export async function createScriptedLlm({
  answer = 'Hello!',
  logger,
  ...options
}: ScriptedLlmOptions = {}): Promise<ScriptedLlm> {
  const tokenizer = await embeddedTokenizer();
  const answerIds = [...(await tokenizer.encode(answer, {addSpecialTokens: false})), tokenizer.eosTokenId!];
  const engine = new ScriptedEngineClient({script: () => playTokens(answerIds), ...options});
  const renderer = createRenderer({
    tokenizer,
    templates: await embeddedTemplates(),
    contentFormat: 'auto',
    defaultTemplateKwargs: {},
    modelName: 'smollm2-135m-instruct',
    maxModelLen: engine.info.maxModelLen,
    ...options.renderer,
  });
  const formats = options.formats ?? null;
  const generation = {defaults: {}, overrideMaxTokens: null, eosTokenIds: [2], warning: null, ...options.generation};
  return {
    llm: createLlm({
      engine,
      tokenizer,
      renderer,
      generation,
      formats,
      maxLogprobs: 20,
      structuredOutputsConfig: options.structuredOutputsConfig ?? null,
      ...(logger && {logger}),
    }),
    engine,
  };
}

function embeddedTemplates() {
  return findChatTemplates(
    {
      chatTemplatePath: join(embeddedModelFolder, 'chat_template.jinja'),
      additionalTemplatePaths: new Map(),
      tokenizerConfigPath: null,
    },
    null,
  );
}
