/** Ctrl-C and its relatives during `parlance bench`: what is in flight ends, the report says so, a second one is obeyed at once. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text as readStream} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, it} from 'vitest';
import {answer, type BenchResult, usualFlags} from '../support/bench-run.ts';
import {programEnvironment, programPath} from '../support/run-program.ts';
import {withScriptedServer} from '../support/scripted-server/start.ts';

describe('an interrupt', () => {
  /** Sends signals once some answers are under way and some have ended. */
  async function interrupted(signals: readonly NodeJS.Signals[]) {
    const script = {behaviours: [answer({ttftMs: 50, gapMs: 50, numTokens: 20})]};
    return withScriptedServer(script, async (server) => {
      const flags = [...usualFlags, '--url', server.url, '--num-prompts', '200', '--concurrency', '4'];
      const child = spawn(process.execPath, [programPath, 'bench', ...flags], {env: programEnvironment({})});
      const ended = once(child, 'close');
      const stdout = readStream(child.stdout);
      child.stderr.resume();
      while ((await server.served()).length < 8) await delay(50);
      for (const signal of signals) {
        child.kill(signal);
        await delay(100);
      }
      const [code] = await ended;
      return {code, stdout: await stdout, numServed: (await server.served()).length};
    });
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s lets what is in flight end, and the report covers what was done', async (signal, exitCode) => {
    const {code, stdout, numServed} = await interrupted([signal]);
    expect(code).toBe(exitCode);
    const result = JSON.parse(stdout) as BenchResult;
    expect(result).toMatchObject({interrupted: true, completed: numServed, failed: 0, cancelled: 0});
    expect(result.warnings).toContain(
      `This run was interrupted after ${numServed} of 200 requests; the figures are of those`,
    );
  });

  it('also ends a server of ours that is just being started', async () => {
    const flags = ['--serve', 'models/smollm2-135m-instruct', ...usualFlags];
    const child = spawn(process.execPath, [programPath, 'bench', ...flags], {env: programEnvironment({})});
    const ended = once(child, 'close');
    const stdout = readStream(child.stdout);
    const [note] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
    expect(note).toMatch(/^Starting models\/smollm2-135m-instruct for this run/);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(await stdout).toBe('');
  });

  it('that comes twice ends at once', async () => {
    const {code, stdout} = await interrupted(['SIGINT', 'SIGINT']);
    expect({code, stdout}).toEqual({code: 130, stdout: ''});
  });
});
