/**
 * What drafts are worth: `npx tsx test/perf/speculation.ts`. Answers of the embedded model that repeat their prompt and
 * answers that do not, with and without drafts; prints CPU milliseconds per output token, how many times less that is,
 * the accepted part of the drafts, and says so when an answer is not the same. One thread, so that a busy machine does no harm.
 */
import path from 'node:path';
import {engineOptionsSchema} from '../../src/core/config/engine-config.ts';
import {EngineCore, engineCoreOptions} from '../../src/core/engine/engine-core.ts';
import {loadModel} from '../../src/core/engine/model-runner/load-model.ts';
import type {DraftStats, EngineRequest} from '../../src/core/engine/protocol.ts';
import type {Tokenizer} from '../../src/core/model/tokenizer.ts';
import {embeddedModelFolder, embeddedTokenizer} from '../support/embedded-model.ts';
import {samplingParams} from '../support/sampling-params.ts';

const maxTokens = 160;
const modelPath = path.join(embeddedModelFolder, 'SmolLM2-135M-Instruct.Q4_1.gguf');

const code = `function totalPrice(items) {
  let total = 0;
  for (const item of items) {
    total += item.price * item.quantity;
  }
  return total;
}

function averagePrice(items) {
  if (items.length === 0) return 0;
  return totalPrice(items) / items.length;
}`;
const prose =
  'The harbour of the old town was built in the year 1620. Ships from the north brought timber and fish, and ships from ' +
  'the south brought wine and oil. In the year 1745 a storm destroyed the great pier, and the merchants of the town paid ' +
  'for a new one. Today the harbour is a museum, and children learn there how to tie knots.';

const tasks: Record<string, string[]> = {
  'repeat a text': [`Repeat this text exactly, word for word:\n\n${prose}`],
  'repeat code': [`Write this code again without any change:\n\n\`\`\`js\n${code}\n\`\`\``],
  'correct a text': [`Correct the spelling of this text and write it again:\n\n${prose.replaceAll('the', 'teh')}`],
  'tell a story': ['Tell me a story about a cat who lives in a lighthouse.'],
  'answer a question': ['Why is the sky blue? Explain it to a child.'],
  'four of all at once': [
    `Repeat this text exactly, word for word:\n\n${prose}`,
    `Write this code again without any change:\n\n\`\`\`js\n${code}\n\`\`\``,
    'Tell me a story about a cat who lives in a lighthouse.',
    'Why is the sky blue? Explain it to a child.',
  ],
};

const configs: Record<string, Record<string, number> | null> = {
  'no drafts': null,
  '3 tokens, match 5': {num_speculative_tokens: 3},
  '4 tokens, match 3': {num_speculative_tokens: 4, prompt_lookup_max: 3},
  '4 tokens, match 2 to 5': {num_speculative_tokens: 4, prompt_lookup_min: 2, prompt_lookup_max: 5},
  '8 tokens, match 3': {num_speculative_tokens: 8, prompt_lookup_max: 3},
};

async function requestsOf(tokenizer: Tokenizer, contents: readonly string[], temperature: number) {
  const requests: EngineRequest[] = [];
  for (const [index, content] of contents.entries()) {
    const text = `<|im_start|>user\n${content}<|im_end|>\n<|im_start|>assistant\n`;
    const promptTokenIds = await tokenizer.encode(text, {addSpecialTokens: false});
    const sampling = samplingParams({maxTokens, temperature, seed: 7n, eosTokenId: 2});
    requests.push({requestId: `${index}`, promptTokenIds, sampling, priority: 0, cacheSalt: null});
  }
  return requests;
}

async function openCore(speculativeConfig: Record<string, number> | null) {
  const options = {threads: 1, maxNumSeqs: 4, maxModelLen: 1024, enablePrefixCaching: false};
  const speculative = speculativeConfig && {method: 'ngram', ...speculativeConfig};
  const config = {...engineOptionsSchema.parse({...options, speculativeConfig: speculative}), modelPath};
  const {runner, info} = await loadModel(config, () => {});
  return {runner, core: new EngineCore(runner, engineCoreOptions(info, config))};
}

async function measure(core: EngineCore, requests: EngineRequest[]) {
  core.addRequests(requests);
  const answers = requests.map((): number[] => []);
  const drafts: DraftStats[] = [];
  let [cpuMs, numTokens] = [0, 0];
  while (core.hasWork()) {
    const startedAt = process.cpuUsage();
    const {outputs, stats} = await core.step();
    const {user, system} = process.cpuUsage(startedAt);
    for (const {requestId, newTokenIds} of outputs) answers[Number(requestId)]!.push(...newTokenIds);
    if (stats.numPrefillTokens > 0) continue;
    cpuMs += (user + system) / 1000;
    numTokens += stats.numDecodeTokens;
    if (stats.drafts) drafts.push(stats.drafts);
  }
  return {answers: JSON.stringify(answers), msPerToken: cpuMs / numTokens, accepted: acceptedPart(drafts)};
}

function acceptedPart(drafts: readonly DraftStats[]): string {
  const numDrafted = drafts.reduce((sum, {numDraftTokens}) => sum + numDraftTokens, 0);
  const numAccepted = drafts
    .flatMap(({acceptedByPosition}) => acceptedByPosition)
    .reduce((sum, count) => sum + count, 0);
  return numDrafted === 0 ? 'no drafts' : `${numAccepted} of ${numDrafted} tokens accepted`;
}

const tokenizer = await embeddedTokenizer();
const plain = new Map<string, Awaited<ReturnType<typeof measure>>>();
for (const [configName, config] of Object.entries(configs)) {
  const {runner, core} = await openCore(config);
  for (const [taskName, contents] of Object.entries(tasks)) {
    for (const temperature of [0, 0.7]) {
      const key = `${taskName}, temperature ${temperature}`;
      const result = await measure(core, await requestsOf(tokenizer, contents, temperature));
      if (config === null) plain.set(key, result);
      const before = plain.get(key)!;
      const isSame = result.answers === before.answers ? '' : '  ANSWER DIFFERS';
      const ratio = (before.msPerToken / result.msPerToken).toFixed(2);
      const figures = `${result.msPerToken.toFixed(1)} ms/token, ${ratio} times as fast, ${result.accepted}`;
      process.stdout.write(`${configName} | ${key} | ${figures}${isSame}\n`);
    }
  }
  runner.close();
}
