import {describe, expect, it} from 'vitest';
import {checkDeployment, deploymentOptionsSchema} from '../../../../src/core/config/deployment-options.ts';
import {UsageError} from '../../../../src/core/errors.ts';

const check = (options: object) => checkDeployment(deploymentOptionsSchema.parse(options));

describe('checkDeployment', () => {
  it.each([
    {},
    {dataParallelSize: 4},
    {dataParallelSize: 4, dataParallelSizeLocal: 4},
    {engine: 'vllm', engineUrl: ['http://[::1]:8000', 'http://[::1]:8001/a', 'http://[::1]:8001/b/']},
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
    [
      {dataParallelSize: 4, dataParallelSizeLocal: 2},
      '--data-parallel-size-local 2 differs from --data-parallel-size 4, but all engines run on this machine.',
    ],
    [{dataParallelSizeLocal: 0}, '--data-parallel-size-local 0 differs from --data-parallel-size 1'],
    [{engine: 'vllm', engineUrl: ['http://a', 'http://A:80/']}, '--engine-url names http://A:80/ twice.'],
    [{engine: 'vllm', engineUrl: ['http://me:secret@a:1']}, '--engine-url with a user name (at a:1) is not supported.'],
    [{engine: 'vllm', engineUrl: ['http://a?x=1']}, '--engine-url http://a?x=1 has a query or a fragment'],
    [{engineUrl: ['http://a']}, '--engine-url and --engine-api-key are for --engine vllm only.'],
    [{engineApiKey: 'k'}, '--engine-url and --engine-api-key are for --engine vllm only.'],
  ])('refuses %j', (options, message) => {
    expect(() => check(options)).toThrow(message);
    expect(() => check(options)).toThrow(UsageError);
  });
});
