import {expect, it} from 'vitest';
import {basicAuthorization, isHttpUrl, withoutCredentials} from '../../../../src/bench/target/base-url.ts';

it('a name and a password become a header and leave the address', () => {
  const given = 'https://me:s3cret%21@host:8443/llm';
  const pair = Buffer.from('me:s3cret!').toString('base64');
  expect(basicAuthorization(given)).toEqual({authorization: `Basic ${pair}`});
  expect(withoutCredentials(given)).toBe('https://host:8443/llm');
});

it.each(['http://host:8000/v1', 'no address', null])('%s has none and stays as it is', (given) => {
  expect(basicAuthorization(given)).toEqual({});
  expect(withoutCredentials(given)).toBe(given);
});

it.each([
  ['http://host', true],
  ['https://[::1]:1/a', true],
  ['ftp://host', false],
  ['host:8000', false],
])('%s is an HTTP address: %s', (text, isOne) => {
  expect(isHttpUrl(text)).toBe(isOne);
});
