import {describe, expect, it} from 'vitest';
import * as z from 'zod';
import {type ConfigEntry, findConfigPath, type NormalizeInput, normalizeArgv} from '../../../src/cli/normalize-argv.ts';
import {optionSpecs} from '../../../src/cli/option-spec.ts';
import {UsageError} from '../../../src/core/errors.ts';

const meta = {description: 'text', group: 'Group'};
const specs = optionSpecs(
  z.object({
    host: z.string().default('127.0.0.1').meta(meta),
    port: z.int().min(0).max(65535).default(8000).meta(meta),
    apiKey: z
      .array(z.string())
      .default([])
      .meta({...meta, secret: true, env: ['VLLM_API_KEY']}),
    servedModelName: z.array(z.string()).default([]).meta(meta),
    maxModelLen: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .meta({...meta, fromModel: true}),
    enablePrefixCaching: z.boolean().default(true).meta(meta),
    disableFrills: z.boolean().default(false).meta(meta),
    extraBody: z.record(z.string(), z.unknown()).default({}).meta(meta),
    logLevel: z
      .enum(['info', 'debug'])
      .default('info')
      .meta({...meta, aliases: ['uvicorn-log-level']}),
  }),
);

function normalize(argv: string[], others: Partial<NormalizeInput> = {}) {
  return normalizeArgv({argv, specs, env: {}, configEntries: [], positionalName: 'model', ...others});
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    const {message, hint, exitCode} = error as UsageError;
    expect(exitCode).toBe(2);
    return hint === null ? message : `${message} | ${hint}`;
  }
  throw new Error('nothing was thrown');
}

describe('the command line', () => {
  it.each<[string, string[], string[]]>([
    ['a positional and a flag', ['m', '--port', '1'], ['m', '--port=1']],
    ['a flag with =', ['--port=1'], ['--port=1']],
    ['underscores in the name', ['--max_model_len', '5'], ['--max-model-len=5']],
    ['underscores in the value stay', ['--host=a_b'], ['--host=a_b']],
    ['an = in the value stays', ['--host=a=b'], ['--host=a=b']],
    ['an empty value', ['--host='], ['--host=']],
    ['a negative number as value', ['--max-model-len', '-1'], ['--max-model-len=auto']],
    ['auto', ['--max-model-len', 'auto'], ['--max-model-len=auto']],
    [
      'a list takes all up to the next flag',
      ['--served-model-name', 'a', 'b', '--port', '1'],
      ['--port=1', '--served-model-name=a', '--served-model-name=b'],
    ],
    ['a list given twice keeps all', ['--api-key', 'a', '--api-key', 'b'], ['--api-key=a', '--api-key=b']],
    ['a list with = takes one', ['--api-key=a', 'm'], ['m', '--api-key=a']],
    ['a switch', ['--enable-prefix-caching'], ['--enable-prefix-caching']],
    ['a switch with a value', ['--enable-prefix-caching=false'], ['--no-enable-prefix-caching']],
    ['the negative form', ['--no-enable-prefix-caching'], ['--no-enable-prefix-caching']],
    ['disable for enable', ['--disable-prefix-caching'], ['--no-enable-prefix-caching']],
    ['enable for disable', ['--enable_frills'], ['--no-disable-frills']],
    ['an alias', ['--uvicorn-log-level', 'debug'], ['--log-level=debug']],
    ['a choice in capitals', ['--log-level', 'DEBUG'], ['--log-level=debug']],
    ['everything behind two dashes is positional', ['--port=1', '--', '--x'], ['--port=1', '--', '--x']],
    ['a dash alone is positional', ['-'], ['--', '-']],
    ['no arguments', [], []],
  ])('%s', (_name, argv, expected) => {
    expect(normalize(argv)).toMatchObject({argv: expected, warnings: []});
  });

  it.each<[string, string]>([
    ['2k', '2000'],
    ['1.5k', '1500'],
    ['2.3k', '2300'],
    ['2K', '2048'],
    ['1m', '1000000'],
    ['1M', '1048576'],
    ['1g', '1000000000'],
    ['1G', '1073741824'],
    ['2t', '2000000000000'],
    ['1T', '1099511627776'],
    ['17', '17'],
  ])('the integer %s is %s', (text, expected) => {
    expect(normalize(['--max-model-len', text]).argv).toEqual([`--max-model-len=${expected}`]);
  });

  it.each<[string, string[], string]>([
    [
      'whole numbers before a binary suffix',
      ['--max-model-len', '1.5K'],
      '--max-model-len 1.5K: a suffix in capitals (powers of 1024) takes whole numbers only | write 1.5k for powers of 1000',
    ],
    ['a fraction that is left', ['--max-model-len', '1.0005k'], '--max-model-len 1.0005k is not a whole number'],
    [
      'a missing value at the end',
      ['--port'],
      '--port needs a value | a value that begins with a dash is written --port=VALUE',
    ],
    [
      'a missing value before a flag',
      ['--host', '--port', '1'],
      '--host needs a value | a value that begins with a dash is written --host=VALUE',
    ],
    [
      'a choice that does not exist',
      ['--log-level', 'loud'],
      '--log-level cannot be loud\nallowed: one of info, debug',
    ],
    [
      'a switch with a strange value',
      ['--disable-frills=maybe'],
      '--disable-frills cannot be maybe\nallowed: true or false',
    ],
    ['a negated switch with a value', ['--no-disable-frills=1'], '--no-disable-frills takes no value'],
    [
      'an unknown flag, with the nearest',
      ['--max-model-length', '5'],
      'Unknown flag --max-model-length | did you mean --max-model-len?',
    ],
    [
      'an unknown flag with nothing near',
      ['--xyzzy-plugh-plover'],
      'Unknown flag --xyzzy-plugh-plover | `--help=all` lists all flags',
    ],
    ['PR-cli-02: a long flag with one dash', ['-port', '8000'], 'Unknown flag -port | did you mean --port?'],
    [
      'PR-cli-02: a flag that others call so',
      ['--context-length', '20'],
      'Unknown flag --context-length | did you mean --max-model-len?',
    ],
    ['an unknown short flag', ['-zz', '1'], 'Unknown flag -zz | `--help=all` lists all flags'],
    ['parts of a flag without JSON', ['--port.a', '1'], '--port.a: --port takes no JSON, so it has no parts'],
    [
      'parts of something that is no object',
      ['--extra-body', '5', '--extra-body.a', '1'],
      '--extra-body 5 is no JSON object, so --extra-body.name cannot change it',
    ],
    ['a forbidden part', ['--extra-body.__proto__.x', '1'], '--extra-body.__proto__.x has an empty or forbidden part'],
    ['an empty part', ['--extra-body..x', '1'], '--extra-body..x has an empty or forbidden part'],
    [
      'a vLLM flag that we lack',
      ['--hf-config-path', 'other'],
      '--hf-config-path other: known from vLLM, not supported here: the model is built as its own config.json says; change it there | leave it out',
    ],
    [
      'a short vLLM flag that we lack',
      ['-tp', '2'],
      '--tensor-parallel-size 2: known from vLLM, not supported here: a model runs whole, in one process on one device | leave it out, or give the neutral value 1',
    ],
    [
      'a vLLM switch that we lack',
      ['--enable-lora'],
      '--enable-lora: known from vLLM, not supported here: adapters are not loaded; merge them into the weights | leave it out',
    ],
  ])('refuses %s', (_name, argv, message) => {
    expect(messageOf(() => normalize(argv))).toBe(message);
  });

  it('never shows a secret in an error', () => {
    const secretChoice = optionSpecs(z.object({key: z.enum(['a', 'b']).meta({...meta, secret: true})}));
    expect(messageOf(() => normalize(['--key', 'hunter2'], {specs: secretChoice}))).toBe(
      '--key cannot be ***\nallowed: one of a, b',
    );
  });
});

describe('warnings', () => {
  it.each<[string, string[], string[], string[]]>([
    [
      'a flag given twice',
      ['--port', '1', '--port=2'],
      ['--port=2'],
      ['--port is given more than once, the last one counts'],
    ],
    ['a flag given twice with the same value', ['--port', '1', '--port=1'], ['--port=1'], []],
    [
      'a switch and its opposite',
      ['--disable-frills', '--enable-frills'],
      ['--no-disable-frills'],
      ['--disable-frills is given more than once, the last one counts'],
    ],
    [
      'the model as a flag',
      ['--model', 'm'],
      ['m'],
      ['--model works, but the model is better given without a flag: parlance serve m'],
    ],
    ['a vLLM flag without effect', ['--swap-space', '4'], [], ['--swap-space 4: known from vLLM, no effect here']],
    ['a vLLM switch without effect', ['--enforce-eager'], [], ['--enforce-eager: known from vLLM, no effect here']],
    [
      'a vLLM switch that is switched off',
      ['--no-enable-chunked-prefill'],
      [],
      ['--no-enable-chunked-prefill: known from vLLM, no effect here'],
    ],
    ['a neutral value of a refused flag', ['-tp=1', '-pp', '1', '--config-format', 'auto'], [], []],
    ['a level joined to its letter', ['-O3'], [], ['--optimization-level 3: known from vLLM, no effect here']],
    ['a level behind its letter', ['-O', '3'], [], ['--optimization-level 3: known from vLLM, no effect here']],
    [
      'a vLLM list takes its values',
      ['m', '--cudagraph-capture-sizes', '1', '2', '--port', '1'],
      ['m', '--port=1'],
      ['--cudagraph-capture-sizes 1 2: known from vLLM, no effect here'],
    ],
  ])('%s', (_name, argv, expected, warnings) => {
    expect(normalize(argv)).toMatchObject({argv: expected, warnings});
  });
});

describe('JSON flags', () => {
  it.each<[string, string[], unknown]>([
    ['whole', ['--extra-body', '{"a":{"b":1}}'], {a: {b: 1}}],
    ['dotted', ['--extra-body.a.b', '1'], {a: {b: 1}}],
    ['dotted, several of one name', ['--extra-body.a.b', '1', '--extra_body.a.c=true'], {a: {b: 1, c: true}}],
    ['the part keeps its underscores', ['--extra-body.top_k', '5'], {top_k: 5}],
    ['text that is no JSON', ['--extra-body.a', 'x y'], {a: 'x y'}],
    ['numbers with a suffix', ['--extra-body.a', '2k'], {a: 2000}],
    ['a list', ['--extra-body.c+', 'x,2'], {c: ['x', 2]}],
    ['a list in two parts', ['--extra-body.c+', 'x', '--extra-body.c+', 'y'], {c: ['x', 'y']}],
    ['dotted changes the whole one', ['--extra-body.a', '2', '--extra-body', '{"a":1,"b":3}'], {a: 2, b: 3}],
    ['a part below a plain value replaces it', ['--extra-body', '{"a":1}', '--extra-body.a.b', '2'], {a: {b: 2}}],
  ])('%s', (_name, argv, expected) => {
    const [argument] = normalize(argv).argv;
    expect(JSON.parse(argument!.slice('--extra-body='.length))).toEqual(expected);
  });
});

describe('environment and file', () => {
  const entry = (key: string, value: unknown): ConfigEntry => ({key, value, place: 'c.yaml:3'});

  it.each<[string, string[], Record<string, string>, ConfigEntry[], string[], string]>([
    ['nothing', [], {}, [], [], 'default'],
    ['file', [], {}, [entry('port', 3)], ['--port=3'], 'file'],
    ['environment', [], {PARLANCE_PORT: '2'}, [], ['--port=2'], 'env'],
    ['environment before file', [], {PARLANCE_PORT: '2'}, [entry('port', 3)], ['--port=2'], 'env'],
    ['flag before file', ['--port=1'], {}, [entry('port', 3)], ['--port=1'], 'flag'],
    ['flag before environment', ['--port=1'], {PARLANCE_PORT: '2'}, [], ['--port=1'], 'flag'],
    ['flag before both', ['--port=1'], {PARLANCE_PORT: '2'}, [entry('port', 3)], ['--port=1'], 'flag'],
    ['an empty variable counts as unset', [], {PARLANCE_PORT: ''}, [entry('port', 3)], ['--port=3'], 'file'],
  ])('%s', (_name, argv, env, configEntries, expected, origin) => {
    const result = normalize(argv, {env, configEntries});
    expect(result.argv).toEqual(expected);
    expect(result.origins.port).toBe(origin);
  });

  it('says where a value of the model comes from', () => {
    expect(normalize([]).origins).toMatchObject({'max-model-len': 'model', host: 'default', model: 'default'});
    expect(normalize(['m', '--max-model-len=1']).origins).toMatchObject({'max-model-len': 'flag', model: 'flag'});
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['the variable of vLLM', {VLLM_API_KEY: 'k'}, ['--api-key=k']],
    ['ours, when only that one is set', {PARLANCE_API_KEY: 'k'}, ['--api-key=k']],
    ['a JSON list', {PARLANCE_SERVED_MODEL_NAME: '["a","b"]'}, ['--served-model-name=a', '--served-model-name=b']],
    ['a switch', {PARLANCE_ENABLE_PREFIX_CACHING: '0'}, ['--no-enable-prefix-caching']],
    ['a number with a suffix', {PARLANCE_MAX_MODEL_LEN: '2k'}, ['--max-model-len=2000']],
  ])('reads %s from the environment', (_name, env, expected) => {
    expect(normalize([], {env}).argv).toEqual(expected);
  });

  it.each<[string, ConfigEntry, string[]]>([
    ['a switch', entry('disable_frills', true), ['--disable-frills']],
    ['a switch that is off', entry('enable-prefix-caching', false), ['--no-enable-prefix-caching']],
    ['a negated switch', entry('no-enable-prefix-caching', true), ['--no-enable-prefix-caching']],
    ['a negated switch that is off', entry('no-enable-prefix-caching', false), ['--enable-prefix-caching']],
    ['a list', entry('served-model-name', ['a', 'b']), ['--served-model-name=a', '--served-model-name=b']],
    ['one value of a list', entry('served-model-name', 'a'), ['--served-model-name=a']],
    ['a map', entry('extra-body', {a: 1}), ['--extra-body={"a":1}']],
    ['an empty entry', entry('host', null), []],
    ['the model', entry('model', 'm'), ['m']],
    ['a neutral value of a vLLM flag', entry('tensor_parallel_size', 1), []],
  ])('reads %s from the file', (_name, configEntry, expected) => {
    expect(normalize([], {configEntries: [configEntry]}).argv).toEqual(expected);
  });

  it('prefers the model of the command line', () => {
    const result = normalize(['a'], {configEntries: [entry('model', 'b')]});
    expect(result).toMatchObject({argv: ['a'], warnings: ['the model of the command line counts, not b (c.yaml:3)']});
    expect(result.origins.model).toBe('flag');
  });

  it.each<[string, ConfigEntry, string]>([
    ['an unknown key', entry('prot', 1), 'Unknown key prot (c.yaml:3) | did you mean port?'],
    ['a list for one value', entry('port', [1]), 'port (c.yaml:3) takes one value, not a list or a map'],
    [
      'a strange switch',
      entry('disable-frills', 'maybe'),
      'disable-frills (c.yaml:3) cannot be maybe\nallowed: true or false',
    ],
    [
      'a vLLM flag that we lack',
      entry('enable_lora', true),
      'enable-lora (c.yaml:3): known from vLLM, not supported here: adapters are not loaded; merge them into the weights | leave it out',
    ],
  ])('refuses %s in the file', (_name, configEntry, message) => {
    expect(messageOf(() => normalize([], {configEntries: [configEntry]}))).toBe(message);
  });

  it('names the variable of a wrong value', () => {
    expect(messageOf(() => normalize([], {env: {PARLANCE_LOG_LEVEL: 'loud'}}))).toBe(
      'PARLANCE_LOG_LEVEL cannot be loud\nallowed: one of info, debug',
    );
  });
});

describe('findConfigPath', () => {
  it.each<[string[], Record<string, string>, string | null]>([
    [['--config', 'a.yaml'], {}, 'a.yaml'],
    [['--config=a.yaml', '--config', 'b.yaml'], {}, 'b.yaml'],
    [['m'], {PARLANCE_CONFIG: 'c.yaml'}, 'c.yaml'],
    [['--config=a.yaml'], {PARLANCE_CONFIG: 'c.yaml'}, 'a.yaml'],
    [['--', '--config=a.yaml'], {}, null],
    [['--config'], {}, null],
    [[], {}, null],
  ])('%j with %j', (argv, env, expected) => {
    expect(findConfigPath(argv, env)).toBe(expected);
  });
});
