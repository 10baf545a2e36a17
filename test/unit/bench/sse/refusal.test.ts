import {describe, expect, it} from 'vitest';
import {isPlainStream, messageOf, notStreamMessage, refusalMessage} from '../../../../src/bench/sse/refusal.ts';

describe('messageOf', () => {
  it.each([
    ['{"error": {"message": "no such model", "code": 404}}', 'no such model'],
    ['{"error": "plain"}', 'plain'],
    ['{"object": "error", "message": "older"}', 'older'],
    ['{"detail": "Not Found"}', 'Not Found'],
    ['{"detail": [{"loc": ["body"]}]}', '{"detail": [{"loc": ["body"]}]}'],
    ['{"error": null}', '{"error": null}'],
    ['null', 'null'],
    ['<html>\n  <b>Bad\n Gateway</b>', '<html> <b>Bad Gateway</b>'],
    ['', ''],
    ['x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('of %s', (body, message) => {
    expect(messageOf(body)).toBe(message);
  });
});

it('headers say where it went and when to come again', () => {
  expect(refusalMessage('', {location: 'https://b/'})).toBe('moved to https://b/');
  expect(refusalMessage('slow down', {'retry-after': '3'})).toBe('slow down; retry after 3 s');
  expect(refusalMessage('', {})).toBe('no message');
});

it('a stream is one of events that nothing hides', () => {
  expect(isPlainStream({'content-type': 'text/event-stream; charset=utf-8'})).toBe(true);
  expect(isPlainStream({'content-type': 'Text/Event-Stream', 'content-encoding': 'identity'})).toBe(true);
  expect(isPlainStream({'content-type': 'application/json'})).toBe(false);
  const gzipped = {'content-type': 'text/event-stream', 'content-encoding': 'gzip'};
  expect(isPlainStream(gzipped)).toBe(false);
  expect(notStreamMessage(Buffer.of(0x1f, 0x8b), gzipped)).toMatch(/^The answer is compressed \(gzip\)/);
  expect(notStreamMessage(Buffer.from('{}'), {})).toBe('The answer is no event stream (content-type none): {}');
});
