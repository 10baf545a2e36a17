/**
 * What happens between the talk and the screen: news go to the view, keys become deeds, and other programs get the terminal
 * for a while.
 */
import {setTimeout as delay} from 'node:timers/promises';
import type {ChatController, ChatNews} from './chat-controller.ts';
import type {ChatTerminal} from './chat-terminal.ts';
import type {InputActions, InputModel} from './input/input-model.ts';
import {editOutside, showInPager} from './outside-programs.ts';
import type {LiveTerminal} from './screen/live-terminal.ts';
import {lastTurnMarkdown} from './slash-commands/export-talk.ts';
import type {ScreenStore} from './state/screen-store.ts';
import {submitInput} from './submit-input.ts';

/** Longer than the time between two frames. */
export const lastFrameMs = 80;
export const pasteMarksOn = '\u001b[?2004h';
export const pasteMarksOff = '\u001b[?2004l';
const showCursor = '\u001b[?25h';

export interface ScreenParts {
  store: ScreenStore;
  input: InputModel;
  terminal: ChatTerminal;
  liveTerminal: LiveTerminal;
  leave: () => void;
}

/** Passes news of the talk on: to the view, and to the terminal or the input where it is for those. */
export function showNews(news: ChatNews, {store, input, terminal, liveTerminal, leave}: ScreenParts): void {
  if (news.type === 'edit') input.setText(news.text);
  if (news.type === 'copy') terminal.stdout.write(`\u001b]52;c;${Buffer.from(news.text).toString('base64')}\u0007`);
  if (news.type === 'clear') liveTerminal.clear();
  store.tell(news);
  if (news.type === 'quit') leave();
}

/** What keys do in this talk. Another message goes when the one before has ended. */
export function actionsOf(
  chat: ChatController,
  {store, input, terminal, liveTerminal, leave}: ScreenParts,
): InputActions {
  let isBusy = false;
  const submit = async (text: string) => {
    isBusy = true;
    await submitInput(chat, text).catch((error: Error) => chat.warn(error.message));
    isBusy = false;
    input.noteIdle(actions);
  };
  const outside = async <T>(run: () => T | Promise<T>): Promise<T | null> => {
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
