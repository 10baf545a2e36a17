import {describe, expect, it} from 'vitest';
import {checkDeployment, deploymentOptionsSchema} from '../../../../src/core/config/deployment-options.ts';
import {UsageError} from '../../../../src/core/errors.ts';

const check = (options: object) => checkDeployment(deploymentOptionsSchema.parse(options));

describe('checkDeployment', () => {
  it.each([
    {},
    {dataParallelSize: 4},
    {engine: 'vllm', engineUrl: ['http://10.0.0.1:8000', 'https://b.example/base'], engineApiKey: 'k'},
  ])('takes %j', (options) => {
    expect(() => check(options)).not.toThrow();
  });

  it.each([
    [{engine: 'vllm'}, '--engine vllm needs the address of a vLLM server.'],
    [
      {engine: 'vllm', engineUrl: ['10.0.0.1:8000']},
      '--engine-url 10.0.0.1:8000 is not an http:// or https:// address.',
    ],
    [{engine: 'vllm', engineUrl: ['http://a'], dataParallelSize: 2}, /--data-parallel-size .* cannot be used with/],
    [{engineUrl: ['http://a']}, '--engine-url and --engine-api-key are for --engine vllm only.'],
    [{engineApiKey: 'k'}, '--engine-url and --engine-api-key are for --engine vllm only.'],
  ])('refuses %j', (options, message) => {
    expect(() => check(options)).toThrow(message);
    expect(() => check(options)).toThrow(UsageError);
  });
});
