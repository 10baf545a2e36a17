import {describe, expect, it} from 'vitest';
import {checkCapacity} from '../../../src/server/request-policy.ts';
import type {ServerContext} from '../../../src/server/server-context.ts';

interface Load {
  isAlive?: boolean;
  open?: number;
  backlog?: number;
  maxReqs?: number | null;
  maxTokens?: number | null;
}

/** What `checkCapacity` looks at, and the reasons that it told of. */
function serverUnder({isAlive = true, open = 0, backlog = 0, maxReqs = null, maxTokens = null}: Load) {
  const reasons: string[] = [];
  const context = {
    llm: {isAlive: () => isAlive, numOpenRequests: () => open, numBacklogTokens: () => backlog},
    options: {maxNumQueuedReqs: maxReqs, maxNumQueuedTokens: maxTokens},
    rejections: {tell: (reason: string) => reasons.push(reason)},
  } as unknown as ServerContext;
  return {context, reasons};
}

describe('checkCapacity', () => {
  it.each<[string, number, Load]>([
    ['no limits', 100, {open: 1000, backlog: 1e9}],
    ['the last place', 1, {open: 3, maxReqs: 4}],
    ['a place for every choice', 3, {open: 1, maxReqs: 4}],
    ['a backlog below the limit', 1, {backlog: 99, maxTokens: 100}],
  ])('lets a request in: %s', (_name, n, load) => {
    const {context, reasons} = serverUnder(load);
    expect(() => checkCapacity({n}, context)).not.toThrow();
    expect(reasons).toEqual([]);
  });

  it.each<[string, number, Load, string, string]>([
    ['no place left', 1, {open: 4, maxReqs: 4}, 'max_num_queued_reqs', 'currently busy'],
    ['a choice too many', 4, {open: 1, maxReqs: 4}, 'max_num_queued_reqs', 'currently busy'],
    ['a limit of none', 1, {maxReqs: 0}, 'max_num_queued_reqs', 'currently busy'],
    ['a full backlog', 1, {backlog: 100, maxTokens: 100}, 'max_num_queued_tokens', 'token backlog'],
    [
      'both, requests first',
      1,
      {open: 1, maxReqs: 1, backlog: 9, maxTokens: 9},
      'max_num_queued_reqs',
      'currently busy',
    ],
  ])('turns a request away and tells why: %s', (_name, n, load, reason, text) => {
    const {context, reasons} = serverUnder(load);
    expect(() => checkCapacity({n}, context)).toThrow(
      expect.objectContaining({name: 'OverloadedError', message: expect.stringContaining(text)}),
    );
    expect(reasons).toEqual([reason]);
  });

  it('says that the engine is dead before anything else', () => {
    const {context, reasons} = serverUnder({isAlive: false, maxReqs: 0});
    expect(() => checkCapacity({n: 1}, context)).toThrow('The engine is dead');
    expect(reasons).toEqual([]);
  });
});
