/**
 * A talk on the screen. The prompt is there before the model is: it loads while the person types. The normal buffer of the
 * terminal is used, and nothing that stands in its history is ever touched.
 */
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {render} from 'ink';
import type {LoadProgressNote} from './backend/backend.ts';
import {DeferredBackend} from './backend/deferred-backend.ts';
import {openBackend} from './backend/open-backend.ts';
import {ChatController, type ChatNews} from './chat-controller.ts';
import type {ChatRunOptions, ChatTerminal} from './chat-terminal.ts';
import {InputHistory} from './input/history.ts';
import {type InputActions, InputModel} from './input/input-model.ts';
import {keyHelp} from './input/key-help.ts';
import {editOutside, showInPager} from './outside-programs.ts';
import {ChatScreen} from './screen/chat-screen.tsx';
import {CodeColours} from './screen/highlight.ts';
import {doesReflow, LiveTerminal} from './screen/live-terminal.ts';
import {usableWidth} from './screen/pen.ts';
import {settleLines} from './screen/settle-lines.ts';
import {createPaint, type Paint, paintNone} from './screen/spans.ts';
import type {TalkStart} from './sessions/open-talk.ts';
import {sessionFolder} from './sessions/session-store.ts';
import {lastTurnMarkdown} from './slash-commands/export-talk.ts';
import {ScreenStore} from './state/screen-store.ts';
import {initialView} from './state/view-state.ts';
import {submitInput} from './submit-input.ts';
import {type OpenedTools, openTools, unreadCallsNote} from './tools/open-tools.ts';

const retries = 5;
/** Longer than the time between two frames. */
const lastFrameMs = 80;
const showCursor = '\u001b[?25h';
const pasteMarksOn = '\u001b[?2004h';
const pasteMarksOff = '\u001b[?2004l';

/** @returns the exit code */
export async function runScreen(options: ChatRunOptions, start: TalkStart, terminal: ChatTerminal): Promise<number> {
  const {stdout, stdin} = terminal;
  const windowSize = () => ({columns: stdout.columns || 80, rows: stdout.rows || 24});
  const store = new ScreenStore(initialView(terminal.version, options), {
    settle: (state) => settleLines(state, usableWidth(windowSize().columns)),
  });
  const liveTerminal = new LiveTerminal(stdout, {reflows: doesReflow(terminal.env)});
  const history = await InputHistory.open(options.save ? join(sessionFolder(terminal.env), '..', 'history') : null);
  const input = new InputModel(history);
  const tools = await openTools(options, terminal.folder);
  const onProgress = ({stage, fraction, detail}: LoadProgressNote) =>
    store.tell({type: 'loading', text: `${stage} ${Math.floor(fraction * 100)} % ${detail}`.trimEnd()});
  const backend = new DeferredBackend(() => openBackend(options, terminal, onProgress));
  let leave = () => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  const chat = new ChatController({
    ...{backend, start, tools, options, folder: terminal.folder, retries},
    tell: (news) => showNews(news, {store, input, terminal, liveTerminal, leave}),
    approve: (call, asked) => store.askApproval(call, asked),
    keyHelp,
  });
  const colours = new CodeColours();
  const paint = choosePaint(options.theme, terminal);
  stdout.write(pasteMarksOn);
  const app = render(
    <ChatScreen
      store={store}
      input={input}
      actions={actionsOf(chat, {store, input, terminal, liveTerminal, leave})}
      paint={paint}
      colours={colours}
      toolsText={() => toolsText(tools)}
      terminal={liveTerminal}
      windowSize={windowSize}
    />,
    // Of a stream Ink uses no more than the live terminal has.
    {
      ...{stdout: liveTerminal as unknown as NodeJS.WriteStream, stdin},
      ...{exitOnCtrlC: false, patchConsole: true, incrementalRendering: false, maxFps: 30},
    },
  );
  terminal.interrupt.addEventListener('abort', leave);
  if (start.isResumed) {
    await colours.load();
    chat.tell({type: 'talk-changed', messages: chat.talk});
  }
  tools.onNote((note) => chat.warn(note));
  void tools.start().then((notes) => notes.map((note) => chat.warn(note)));
  void tellReady(chat, start, store).then(() => colours.load());
  try {
    await left;
    return 0;
  } finally {
    chat.stop();
    store.tell({type: 'quit'});
    store.flush();
    await delay(lastFrameMs);
    app.unmount();
    stdout.write(pasteMarksOff);
    await Promise.all([backend.close(), tools.close()]);
  }
}

/** A model that cannot be loaded is said once; the talk is still there to be read. */
async function tellReady(chat: ChatController, {earlierModel}: TalkStart, store: ScreenStore): Promise<void> {
  try {
    const facts = await chat.backend.ready();
    chat.tell({type: 'facts', facts});
    const note = unreadCallsNote(facts, chat.tools);
    if (note !== null) chat.warn(note);
    if (earlierModel !== null && earlierModel !== facts.modelName) {
      chat.info(`Until now ${earlierModel} answered in this talk, from now on ${facts.modelName}.`);
    }
  } catch (error) {
    store.tell({type: 'unreachable', message: (error as Error).message});
  }
}

interface ScreenParts {
  store: ScreenStore;
  input: InputModel;
  terminal: ChatTerminal;
  liveTerminal: LiveTerminal;
  leave: () => void;
}

function showNews(news: ChatNews, {store, input, terminal, liveTerminal, leave}: ScreenParts): void {
  if (news.type === 'edit') input.setText(news.text);
  if (news.type === 'copy') terminal.stdout.write(`\u001b]52;c;${Buffer.from(news.text).toString('base64')}\u0007`);
  if (news.type === 'clear') liveTerminal.clear();
  store.tell(news);
  if (news.type === 'quit') leave();
}

function actionsOf(chat: ChatController, {store, input, terminal, liveTerminal, leave}: ScreenParts): InputActions {
  let isBusy = false;
  const submit = async (text: string) => {
    isBusy = true;
    await submitInput(chat, text).catch((error: Error) => chat.warn(error.message));
    isBusy = false;
    input.noteIdle(actions);
  };
  const outside = async <T,>(run: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await withoutScreen(run, store, terminal);
    } catch (error) {
      chat.warn((error as Error).message);
      return null;
    }
  };
  const actions: InputActions = {
    submit: (text) => void submit(text),
    isBusy: () => isBusy,
    stop: () => chat.stop(),
    approve: (approval) => store.approve(approval),
    showThought: () => store.tell({type: 'show-thought'}),
    showLastCall: () => chat.showLastCall(),
    editOutside: (text) => outside(() => editOutside(text, terminal)),
    showInPager: () => void outside(() => showInPager(lastTurnMarkdown(chat.talk), terminal)),
    clearScreen: () => liveTerminal.clear(),
    quit: leave,
  };
  return actions;
}

/** The live part goes, and the terminal is as it was before us, while another program has it. */
async function withoutScreen<T>(run: () => T | Promise<T>, store: ScreenStore, terminal: ChatTerminal): Promise<T> {
  const {stdin, stdout} = terminal;
  store.tell({type: 'cover', isCovered: true});
  store.flush();
  await delay(lastFrameMs);
  stdin.setRawMode(false);
  stdout.write(pasteMarksOff + showCursor);
  try {
    return await run();
  } finally {
    stdin.setRawMode(true);
    stdout.write(pasteMarksOn);
    store.tell({type: 'cover', isCovered: false});
    store.flush();
  }
}

/** For the status line. */
function toolsText({box, isStarting}: OpenedTools): string | null {
  if (isStarting()) return 'tools are starting';
  return box.numOn > 0 ? `tools ${box.numOn}` : null;
}

function choosePaint(theme: ChatRunOptions['theme'], {env, stdout}: ChatTerminal): Paint {
  const hasColour = env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : !env.NO_COLOR && stdout.isTTY === true;
  if (theme === 'none' || !hasColour) return paintNone;
  return createPaint(theme === 'light' || (theme === 'auto' && hasLightBackground(env)) ? 'light' : 'dark');
}

/** Some terminals say their colours, `15` being white as the background. */
function hasLightBackground({COLORFGBG = ''}: NodeJS.ProcessEnv): boolean {
  return ['7', '15'].includes(COLORFGBG.split(';').at(-1)!);
}
