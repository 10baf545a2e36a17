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
import {ChatController} from './chat-controller.ts';
import type {ChatRunOptions, ChatTerminal} from './chat-terminal.ts';
import {InputHistory} from './input/history.ts';
import {InputModel} from './input/input-model.ts';
import {keyHelp} from './input/key-help.ts';
import {ChatScreen, type WindowSize} from './screen/chat-screen.tsx';
import {choosePaint} from './screen/choose-paint.ts';
import {CodeColours} from './screen/highlight.ts';
import {doesReflow, LiveTerminal} from './screen/live-terminal.ts';
import {usableWidth} from './screen/pen.ts';
import {settleLines} from './screen/settle-lines.ts';
import {actionsOf, lastFrameMs, pasteMarksOff, pasteMarksOn, type ScreenParts, showNews} from './screen-actions.ts';
import type {TalkStart} from './sessions/open-talk.ts';
import {sessionFolder} from './sessions/session-store.ts';
import {ScreenStore} from './state/screen-store.ts';
import {initialView} from './state/view-state.ts';
import {type OpenedTools, openTools, unreadCallsNote} from './tools/open-tools.ts';

const retries = 5;

interface OpenedScreen extends ScreenParts {
  chat: ChatController;
  tools: OpenedTools;
  colours: CodeColours;
  windowSize: () => WindowSize;
  /** Resolves when the person leaves. */
  left: Promise<void>;
}

/** @returns the exit code */
export async function runScreen(options: ChatRunOptions, start: TalkStart, terminal: ChatTerminal): Promise<number> {
  const screen = await openScreen(options, start, terminal);
  const {chat, store, tools, left} = screen;
  terminal.stdout.write(pasteMarksOn);
  const app = drawScreen(screen, options.theme);
  terminal.interrupt.addEventListener('abort', screen.leave);
  await showResumed(screen, start);
  tools.onNote((note) => chat.warn(note));
  void tools.start().then((notes) => notes.map((note) => chat.warn(note)));
  void tellReady(chat, start, store).then(() => screen.colours.load());
  try {
    await left;
    return 0;
  } finally {
    chat.stop();
    store.tell({type: 'quit'});
    store.flush();
    await delay(lastFrameMs);
    app.unmount();
    terminal.stdout.write(pasteMarksOff);
    await Promise.all([chat.backend.close(), tools.close()]);
  }
}

async function openScreen(options: ChatRunOptions, start: TalkStart, terminal: ChatTerminal): Promise<OpenedScreen> {
  const parts = await openParts(options, terminal);
  const {store} = parts;
  const tools = await openTools(options, terminal.folder);
  const onProgress = ({stage, fraction, detail}: LoadProgressNote) =>
    store.tell({type: 'loading', text: `${stage} ${Math.floor(fraction * 100)} % ${detail}`.trimEnd()});
  const chat = new ChatController({
    ...{start, tools, options, folder: terminal.folder, retries, keyHelp},
    backend: new DeferredBackend(() => openBackend(options, terminal, onProgress)),
    tell: (news) => showNews(news, parts),
    approve: (call, asked) => store.askApproval(call, asked),
  });
  return {...parts, chat, tools, colours: new CodeColours()};
}

/** What does not depend on the talk. */
async function openParts(options: ChatRunOptions, terminal: ChatTerminal) {
  const {stdout, env, version} = terminal;
  const windowSize = () => ({columns: stdout.columns || 80, rows: stdout.rows || 24});
  const store = new ScreenStore(initialView(version, options), {
    settle: (state) => settleLines(state, usableWidth(windowSize().columns)),
  });
  const history = await InputHistory.open(options.save ? join(sessionFolder(env), '..', 'history') : null);
  const liveTerminal = new LiveTerminal(stdout, {reflows: doesReflow(env)});
  let leave = () => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  return {store, input: new InputModel(history), terminal, liveTerminal, leave, left, windowSize};
}

function drawScreen(screen: OpenedScreen, theme: ChatRunOptions['theme']) {
  const {store, input, chat, tools, terminal, liveTerminal, colours, windowSize} = screen;
  // Of a stream Ink uses no more than the live terminal has.
  const stdout = liveTerminal as unknown as NodeJS.WriteStream;
  return render(
    <ChatScreen
      store={store}
      input={input}
      actions={actionsOf(chat, screen)}
      paint={choosePaint(theme, terminal)}
      colours={colours}
      toolsText={() => toolsText(tools)}
      terminal={liveTerminal}
      windowSize={windowSize}
    />,
    {stdout, stdin: terminal.stdin, exitOnCtrlC: false, patchConsole: true, incrementalRendering: false, maxFps: 30},
  );
}

async function showResumed({chat, colours}: OpenedScreen, {isResumed}: TalkStart): Promise<void> {
  if (!isResumed) return;
  await colours.load();
  chat.tell({type: 'talk-changed', messages: chat.talk});
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

/** For the status line. */
function toolsText({box, isStarting}: OpenedTools): string | null {
  if (isStarting()) return 'tools are starting';
  return box.numOn > 0 ? `tools ${box.numOn}` : null;
}
