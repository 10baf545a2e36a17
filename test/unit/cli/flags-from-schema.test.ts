import {describe, expect, it} from 'vitest';
import * as z from 'zod';
import {flagsFromSpecs, optionsFromFlags, type RawFlags} from '../../../src/cli/flags-from-schema.ts';
import {optionSpecs} from '../../../src/cli/option-spec.ts';

const meta = {description: 'text', group: 'Group'};
const schema = z.object({
  host: z.string().default('127.0.0.1').meta(meta),
  port: z.int().min(0).max(65535).default(8000).meta(meta),
  interval: z.number().min(0).default(0).meta(meta),
  maxModelLen: z.int().min(1).nullable().default(null).meta(meta),
  apiKey: z
    .array(z.string())
    .default([])
    .meta({...meta, secret: true}),
  origins: z
    .array(z.string())
    .default([])
    .meta({...meta, format: 'json'}),
  body: z.record(z.string(), z.unknown()).nullable().default(null).meta(meta),
  isQuick: z.boolean().default(false).meta(meta),
  kvCacheBytes: z
    .int()
    .nullable()
    .default(null)
    .meta({...meta, flag: 'kv-cache-memory-bytes'}),
});
const specs = optionSpecs(schema);
const defaults = schema.parse({});

describe('optionSpecs', () => {
  it.each([
    ['host', 'text', 'PARLANCE_HOST'],
    ['port', 'integer', 'PARLANCE_PORT'],
    ['interval', 'number', 'PARLANCE_INTERVAL'],
    ['max-model-len', 'integer', 'PARLANCE_MAX_MODEL_LEN'],
    ['api-key', 'list', 'PARLANCE_API_KEY'],
    ['origins', 'json', 'PARLANCE_ORIGINS'],
    ['body', 'json', 'PARLANCE_BODY'],
    ['is-quick', 'boolean', 'PARLANCE_IS_QUICK'],
    ['kv-cache-memory-bytes', 'integer', 'PARLANCE_KV_CACHE_MEMORY_BYTES'],
  ])('%s is of kind %s', (flag, kind, env) => {
    expect(specs.find((spec) => spec.flag === flag)).toMatchObject({kind, env: [env]});
  });
});

describe('flagsFromSpecs', () => {
  it('makes one flag per option, without defaults', () => {
    const flags = flagsFromSpecs(specs);
    expect(Object.keys(flags)).toEqual(specs.map(({flag}) => flag));
    expect(Object.values(flags).filter((flag) => flag.default !== undefined)).toEqual([]);
  });
});

describe('optionsFromFlags', () => {
  it.each<[string, RawFlags, Partial<typeof defaults>]>([
    ['nothing', {}, {}],
    ['texts', {host: '::', port: '9000', interval: '0.5'}, {host: '::', port: 9000, interval: 0.5}],
    ['auto', {'max-model-len': 'auto'}, {maxModelLen: null}],
    ['a switch', {'is-quick': true}, {isQuick: true}],
    ['lists', {'api-key': ['a', 'b']}, {apiKey: ['a', 'b']}],
    ['JSON', {origins: '["*"]', body: '{"a":1}'}, {origins: ['*'], body: {a: 1}}],
    ['a renamed flag', {'kv-cache-memory-bytes': '5'}, {kvCacheBytes: 5}],
  ])('reads %s', (_name, flags, expected) => {
    expect(optionsFromFlags(schema, specs, flags)).toEqual({...defaults, ...expected});
  });

  it.each<[string, RawFlags, string]>([
    ['no number', {port: 'x'}, '--port cannot be x\nallowed: an integer from 0 to 65535'],
    ['an empty number', {port: ''}, '--port cannot be empty\nallowed: an integer from 0 to 65535'],
    ['a number beyond the limits', {port: '70000'}, '--port cannot be 70000\nallowed: an integer from 0 to 65535'],
    ['a fraction', {port: '1.5'}, '--port cannot be 1.5\nallowed: an integer from 0 to 65535'],
    [
      'a limit on one side',
      {'max-model-len': '0'},
      '--max-model-len cannot be 0\nallowed: an integer of at least 1, or auto',
    ],
    ['a negative number', {interval: '-1'}, '--interval cannot be -1\nallowed: a number of at least 0'],
    ['JSON of the wrong kind', {body: '[1]'}, '--body cannot be [1]\nallowed: JSON'],
  ])('refuses %s', (_name, flags, message) => {
    expect(() => optionsFromFlags(schema, specs, flags)).toThrow(expect.objectContaining({message, exitCode: 2}));
  });

  it('names the place of a value that did not come from the command line', () => {
    const labels = {port: 'port (server.yaml:1)', body: 'PARLANCE_BODY'};
    expect(() => optionsFromFlags(schema, specs, {port: 'x'}, labels)).toThrow('port (server.yaml:1) cannot be x');
    expect(() => optionsFromFlags(schema, specs, {port: '-1'}, labels)).toThrow('port (server.yaml:1) cannot be -1');
    expect(() => optionsFromFlags(schema, specs, {body: '{'}, labels)).toThrow('PARLANCE_BODY cannot be {');
  });

  it('says what is wrong with broken JSON', () => {
    expect(() => optionsFromFlags(schema, specs, {body: '{"a"'})).toThrow(
      /^--body cannot be \{"a"\nallowed: valid JSON \(/,
    );
  });
});
