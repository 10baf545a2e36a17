import {describe, expect, it} from 'vitest';
import {loadReport} from '../../../../src/server/plugins/load-report.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../../support/test-app.ts';

closeAppsAfterEach();

describe('load report', () => {
  const load = {num_requests_waiting: 2, kv_cache_usage_perc: 0.25};
  it.each([
    ['text', 'TEXT named_metrics.num_requests_waiting=2.0, named_metrics.kv_cache_usage_perc=0.25'],
    ['JSON', 'JSON {"named_metrics": {"num_requests_waiting": 2.0, "kv_cache_usage_perc": 0.25}}'],
    ['xml', null],
    [undefined, null],
  ])('%s', (format, expected) => {
    expect(loadReport(format, load)).toBe(expected);
  });

  it('stands in the header of whole answers that ask for it', async () => {
    const {app} = await openTestApp();
    const send = (headers: Record<string, string>) =>
      app.inject({
        method: 'POST',
        url: '/v1/chat/completions',
        headers: {'content-type': 'application/json', ...headers},
        payload: {messages: userSays('Hi')},
      });
    const {headers} = await send({'endpoint-load-metrics-format': 'text'});
    expect(headers['endpoint-load-metrics']).toBe(
      'TEXT named_metrics.num_requests_waiting=0.0, named_metrics.kv_cache_usage_perc=0.0',
    );
    expect((await send({})).headers).not.toHaveProperty('endpoint-load-metrics');
  });
});
