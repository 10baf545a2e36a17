/**
 * The servers that the recorded traffic needs: a folder with the models and settings that its flags name, and the built
 * server started in it with the flags of one group (conventions of the data's README).
 */
import {mkdir, mkdtemp, readFile, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {embeddedModelFolder} from './embedded-model.ts';
import {type ServeProcess, startServe} from './serve-process.ts';

const servedName = 'smollm2-135m-instruct';
const modelName = 'SmolLM2-135M-Instruct';
const thinkingModelName = 'SmolLM2-135M-Think';
const weightsFile = 'SmolLM2-135M-Instruct.Q4_1.gguf';

/** As the reference was started: its length, its arithmetic, its batch. */
const referenceFlags = ['--max-model-len', '2048', '--activation-precision', 'float32', '--max-num-seqs', '32'];

/** Sampling defaults of the group whose `--generation-config` is a folder. */
const folderDefaults = {
  max_new_tokens: 5,
  temperature: 0.25,
  top_k: 11,
  top_p: 0.5,
  repetition_penalty: 1.25,
  eos_token_id: 2,
};

/** Special names that mark the thought in the variant model, by the names that they replace. */
const thinkingTokens: Readonly<Record<string, string>> = {'<gh_stars>': '<think>', '<issue_start>': '</think>'};

/** @returns the folder; whoever calls removes it */
export async function createServerFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-golden-'));
  await symlink(embeddedModelFolder, join(folder, modelName));
  await writeJson(join(folder, 'gencfg', 'generation_config.json'), folderDefaults);
  await createThinkingModel(join(folder, thinkingModelName));
  return folder;
}

async function writeJson(path: string, value: object): Promise<void> {
  await mkdir(join(path, '..'), {recursive: true});
  await writeFile(path, JSON.stringify(value));
}

/** The same weights; two tokens renamed, and a generation prompt that opens the thought. */
async function createThinkingModel(folder: string): Promise<void> {
  const read = (name: string) => readFile(join(embeddedModelFolder, name), 'utf8');
  await writeJson(join(folder, 'tokenizer.json'), withThinkingTokens(JSON.parse(await read('tokenizer.json'))));
  for (const name of ['config.json', 'generation_config.json', weightsFile]) {
    await symlink(join(embeddedModelFolder, name), join(folder, name));
  }
  const {additional_special_tokens: _others, ...tokenizerConfig} = JSON.parse(await read('tokenizer_config.json'));
  await writeJson(join(folder, 'tokenizer_config.json'), tokenizerConfig);
  await writeFile(join(folder, 'chat_template.jinja'), openingThought(await read('chat_template.jinja')));
}

interface TokenizerJson {
  added_tokens: {content: string; special: boolean}[];
  model: {vocab: Record<string, number>};
}

function withThinkingTokens(tokenizer: TokenizerJson): TokenizerJson {
  const vocab = Object.entries(tokenizer.model.vocab).map(([token, id]) => [thinkingTokens[token] ?? token, id]);
  const addedTokens = tokenizer.added_tokens.map((token) => {
    const content = thinkingTokens[token.content];
    return content === undefined ? token : {...token, content, special: false};
  });
  return {
    ...tokenizer,
    added_tokens: addedTokens,
    model: {...tokenizer.model, vocab: Object.fromEntries(vocab)},
  };
}

function openingThought(template: string): string {
  const opening = "{{ '<|im_start|>assistant\n' }}";
  if (!template.includes(opening)) throw new Error('The chat template opens the answer in another way');
  return template.replace(
    opening,
    `${opening}{% if enable_thinking is not defined or enable_thinking %}{{ '<think>\n' }}{% endif %}`,
  );
}

/**
 * Starts the server of a group.
 * @param folder of `createServerFolder`
 * @param engineUrl of a server that runs the model; this one is a front before it then
 */
export function startGoldenServer(folder: string, flags: readonly string[], engineUrl?: string): Promise<ServeProcess> {
  const isFlag = (text: string) => text !== 'NONAME' && !/^(ENV|MODEL):/.test(text);
  const valuesAfter = (prefix: string) =>
    flags.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
  const [model = modelName] = valuesAfter('MODEL:');
  const name = flags.includes('NONAME') ? [] : ['--served-model-name', servedName];
  const engine = engineUrl === undefined ? [] : ['--engine', 'vllm', '--engine-url', engineUrl];
  return startServe({
    cwd: folder,
    argv: [model, ...referenceFlags, ...name, ...engine, ...flags.filter(isFlag)],
    env: Object.fromEntries(valuesAfter('ENV:').map((text) => text.split(/=(.*)/s).slice(0, 2))),
  });
}
