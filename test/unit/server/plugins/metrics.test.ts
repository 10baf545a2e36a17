import {describe, expect, it} from 'vitest';
import {closeAppsAfterEach, openTestApp, type TestApp} from '../../../support/test-app.ts';

closeAppsAfterEach();

const labels = 'model_name="tiny",engine="0"';

async function page({app}: TestApp): Promise<string> {
  return (await app.inject({url: '/metrics'})).body;
}

function sampleValue(text: string, sample: string): number | null {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
  return line === undefined ? null : Number(line.slice(sample.length));
}

describe('/metrics', () => {
  it.each([
    ['GET', '/metrics', '1.0.0'],
    ['HEAD', '/metrics', '0.0.4'],
    ['GET', '/metrics/', '0.0.4'],
    ['GET', '/metrics/x', '0.0.4'],
    ['HEAD', '/metrics/', '0.0.4'],
  ] as const)('answers %s %s in version %s of the format', async (method, url, version) => {
    const {app} = await openTestApp();
    const response = await app.inject({method, url});
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe(`text/plain; version=${version}; charset=utf-8`);
  });

  it('counts requests and tokens as the answers report them', async () => {
    const server = await openTestApp({answer: 'One two three.'});
    const answers = [await server.chat({}), await server.chat({}), await server.chat({stream: true})];
    const usage = answers[0]!.body.usage as {prompt_tokens: number; completion_tokens: number};
    const text = await page(server);
    expect(sampleValue(text, `vllm:request_success_total{${labels},finished_reason="stop"}`)).toBe(3);
    expect(sampleValue(text, `vllm:prompt_tokens_total{${labels}}`)).toBe(3 * usage.prompt_tokens);
    expect(sampleValue(text, `vllm:generation_tokens_total{${labels}}`)).toBe(3 * usage.completion_tokens);
    expect(sampleValue(text, `vllm:e2e_request_latency_seconds_count{${labels}}`)).toBe(3);
    expect(sampleValue(text, `vllm:time_to_first_token_seconds_count{${labels}}`)).toBe(3);
    expect(text).not.toContain('undefined');
  });

  it('counts an output that a stop string ended as stopped', async () => {
    const server = await openTestApp({answer: 'One two three.'});
    await server.chat({stop: 'two'});
    const text = await page(server);
    expect(sampleValue(text, `vllm:request_success_total{${labels},finished_reason="stop"}`)).toBe(1);
    expect(sampleValue(text, `vllm:request_success_total{${labels},finished_reason="abort"}`)).toBe(0);
  });

  it('counts the choices of a request, and the request once', async () => {
    const server = await openTestApp();
    await server.chat({n: 2, temperature: 1});
    const text = await page(server);
    expect(sampleValue(text, `vllm:request_success_total{${labels},finished_reason="stop"}`)).toBe(2);
    expect(sampleValue(text, `vllm:request_params_n_sum{${labels}}`)).toBe(2);
    expect(sampleValue(text, `vllm:request_params_n_count{${labels}}`)).toBe(1);
  });

  it('counts answers of the HTTP layer by route and status, but not those of probes', async () => {
    const server = await openTestApp();
    await server.chat({});
    await server.chat({n: 0});
    await server.app.inject({url: '/v1/models'});
    await server.app.inject({url: '/health'});
    await server.app.inject({url: '/v1/models/nope'});
    const text = await page(server);
    const count = (method: string, status: string, handler: string) =>
      sampleValue(text, `http_requests_total{method="${method}",status="${status}",handler="${handler}"}`);
    expect(count('POST', '2xx', '/v1/chat/completions')).toBe(1);
    expect(count('POST', '4xx', '/v1/chat/completions')).toBe(1);
    expect(count('GET', '2xx', '/v1/models')).toBe(1);
    expect(count('GET', '4xx', 'none')).toBe(1);
    expect(count('GET', '2xx', '/health')).toBeNull();
    expect(sampleValue(text, 'http_request_size_bytes_sum{handler="/v1/chat/completions"}')).toBeGreaterThan(50);
    expect(sampleValue(text, 'http_response_size_bytes_sum{handler="/v1/models"}')).toBeGreaterThan(100);
  });

  it.each([
    {limit: {maxNumQueuedReqs: 0}, reason: 'max_num_queued_reqs', text: 'currently busy'},
    {limit: {maxNumQueuedTokens: 0}, reason: 'max_num_queued_tokens', text: 'prefill token backlog limit'},
  ])('counts requests that were turned away: $reason', async ({limit, reason, text}) => {
    const server = await openTestApp({}, limit);
    const payload = {messages: [{role: 'user', content: 'Hi'}]};
    const refused = await server.app.inject({method: 'POST', url: '/v1/chat/completions', payload});
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json().error.message).toContain(text);
    const sample = `vllm:admission_rejections_total{model_name="tiny",reason="${reason}"}`;
    expect(sampleValue(await page(server), sample)).toBe(1);
  });

  it('has no families of the engine without statistics', async () => {
    const server = await openTestApp({}, {disableLogStats: true});
    const text = await page(server);
    expect(text).not.toContain('vllm:');
    expect(text).toContain('# TYPE http_requests_total counter');
  });
});
