import {describe, expect, it} from 'vitest';
import {connectionHint, failureHint, statusHint} from '../../../../src/bench/target/fault-hints.ts';

const asked = {
  url: 'https://host:8443/v1/chat/completions',
  model: 'mine',
  listedModels: ['a', 'b'],
  hasKey: false,
};

describe('hints', () => {
  it.each([
    ['ECONNREFUSED', /nothing listens at host:8443/],
    ['ENOTFOUND', /there is no host host:/],
    ['EHOSTUNREACH', /no way leads to host:8443/],
    ['UND_ERR_CONNECT_TIMEOUT', /host:8443 did not answer in time/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /speaks no TLS/],
    ['CERT_HAS_EXPIRED', /--insecure/],
    ['ECONNRESET', /look into the log of the server$/],
  ])('of a connection: %s', (code, hint) => {
    expect(connectionHint(code, asked)).toMatch(hint);
  });

  it('of a closed connection think of TLS where none was spoken', () => {
    expect(connectionHint('ECONNRESET', {...asked, url: 'http://host/v1'})).toContain('https://');
  });

  it.each([
    [401, {}, /wants a key/],
    [403, {hasKey: true}, /refuses the key/],
    [404, {}, /does not list mine, but a, b: choose with --model/],
    [404, {listedModels: ['mine']}, /whether the server has \/v1\/chat\/completions/],
    [404, {listedModels: null}, /--endpoint/],
    [404, {listedModels: [...'abcdefgh']}, /but a, b, c, d, e and 3 more/],
    [308, {}, /--url/],
    [429, {}, /--request-rate/],
    [503, {}, /--ready-check-timeout-sec/],
  ])('of status %i with %j', (status, fields, hint) => {
    expect(statusHint(status, {...asked, ...fields})).toMatch(hint);
  });

  it('of failures go by their type, status or code', () => {
    expect(failureHint('http_429', 'slow down', asked)).toBe(statusHint(429, asked));
    expect(failureHint('connect', 'ECONNREFUSED: connect', asked)).toBe(connectionHint('ECONNREFUSED', asked));
    expect(failureHint('timeout_idle', 'Nothing more came.', asked)).toContain('--idle-timeout');
    expect(failureHint('malformed', 'The answer is no event stream', asked)).toContain('--whole-response');
  });

  it('are none where the message says it all', () => {
    expect(failureHint('error_event', 'out of memory', asked)).toBeNull();
    expect(failureHint('malformed', 'An event is no JSON of a completion: x', asked)).toBeNull();
    expect(failureHint('http_500', 'broken', asked)).toBeNull();
    expect(connectionHint('EODD', asked)).toBeNull();
  });
});
