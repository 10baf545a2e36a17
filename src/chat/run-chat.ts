/**
 * `parlance chat` from its options on: opens what answers, the tools and the talk, and picks the way it is shown: one
 * turn for pipes, lines for simple terminals, or the screen.
 */
import {UsageError} from '../core/errors.ts';
import {attachFiles} from './attach-files.ts';
import {openBackend} from './backend/open-backend.ts';
import {withVersion} from './backend/server-address.ts';
import type {ChatRunOptions, ChatTerminal} from './chat-terminal.ts';
import {answerOnce} from './plain/one-turn.ts';
import {openTalk} from './sessions/open-talk.ts';
import {openTools, unreadCallsNote} from './tools/open-tools.ts';

/** @returns the exit code @throws ServingError, UsageError */
export async function runChat(options: ChatRunOptions, terminal: ChatTerminal): Promise<number> {
  checkOptions(options);
  const piped = await terminal.readPipe();
  const isInteractive = piped === null && options.quick === null && !options.json && terminal.stdout.isTTY === true;
  return isInteractive ? runInteractive(options, terminal) : runOnce(options, piped, terminal);
}

/** @throws UsageError */
function checkOptions({model, url, systemPrompt, systemFile, ...options}: ChatRunOptions): void {
  const {continue: isContinued, resume, json, stream} = options;
  if (url !== null && model === null) withVersion(url);
  if (systemPrompt !== null && systemFile !== null) {
    throw new UsageError('--system-prompt and --system-file exclude each other');
  }
  if (isContinued && resume !== null) throw new UsageError('--continue and --resume exclude each other');
  if (stream && !json) throw new UsageError('--stream belongs to --json', {hint: 'add --json, or leave --stream out'});
}

async function runOnce(options: ChatRunOptions, piped: string | null, terminal: ChatTerminal): Promise<number> {
  const start = await openTalk(options);
  const text = [options.quick ?? '', piped?.trim() ?? ''].filter((part) => part !== '').join('\n\n');
  const question = await attachFiles(text, options.file);
  if (question === '') {
    throw new UsageError('there is no message', {hint: 'parlance chat -q "Hello", or: echo Hello | parlance chat'});
  }
  const tools = await openTools(options, terminal.folder);
  for (const line of await tools.start()) terminal.writeError(`${line}\n`);
  const backend = await openBackend(options, terminal, (progress) => terminal.onProgress(progress));
  try {
    const note = unreadCallsNote(await backend.ready(), tools.box);
    terminal.finishProgress();
    if (note !== null) terminal.writeError(`${note}\n`);
    const {talk, settings, writer} = start;
    talk.push({role: 'user', content: question});
    const turn = {backend, settings, tools: tools.box, talk, options, signal: terminal.interrupt};
    const exitCode = await answerOnce(turn, terminal);
    await writer?.save(talk, settings, (await backend.ready()).modelName);
    return exitCode;
  } finally {
    terminal.finishProgress();
    await Promise.all([backend.close(), tools.close()]);
  }
}

async function runInteractive(options: ChatRunOptions, terminal: ChatTerminal): Promise<number> {
  const isSimple = !options.tui || terminal.env.TERM === 'dumb' || terminal.stdin.isTTY !== true;
  const start = await openTalk(options);
  if (isSimple) {
    const {runLineRepl} = await import('./plain/line-repl.ts');
    return runLineRepl(options, start, terminal);
  }
  // From here on Enter comes as Enter, also while the code of the screen is loaded.
  terminal.stdin.setRawMode(true);
  const {runScreen} = await import('./run-screen.tsx');
  return runScreen(options, start, terminal);
}
