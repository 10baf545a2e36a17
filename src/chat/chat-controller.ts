/**
 * A talk and everything that can be done with it, without any notion of a screen: send, stop, change settings, take back,
 * store. What happens is told as news; both the line mode and the screen only show them.
 */
import {once} from 'node:events';
import type {BackendFacts, ChatBackend} from './backend/backend.ts';
import type {ChatRunOptions} from './chat-terminal.ts';
import type {AnswerStats} from './conversation/answer-stats.ts';
import type {TalkMessage} from './conversation/messages.ts';
import {type Approve, runTurn, type TurnEvent} from './conversation/run-turn.ts';
import {requestBody, type TalkSettings} from './conversation/settings.ts';
import type {TalkStart} from './sessions/open-talk.ts';
import {newSessionId, type SessionStore, SessionWriter, type StoredSession} from './sessions/session-store.ts';
import type {OpenedTools} from './tools/open-tools.ts';
import type {ToolBox} from './tools/tool-box.ts';

export type ChatNews =
  | TurnEvent
  | {type: 'question'; text: string}
  | {type: 'note'; text: string; tone: 'info' | 'warning' | 'error'}
  /** Text to look at, such as a rendered prompt. */
  | {type: 'listing'; title: string; text: string}
  | {type: 'facts'; facts: BackendFacts}
  /** How far a running tool is. */
  | {type: 'tool-output'; line: string}
  | {type: 'reasoning-mode'; mode: ReasoningMode}
  | {type: 'raw-mode'; isRaw: boolean}
  /** The talk is another one now: its last messages may be shown. */
  | {type: 'talk-changed'; messages: readonly TalkMessage[]}
  | {type: 'clear'}
  /** Puts a text into the input. */
  | {type: 'edit'; text: string}
  /** Writes to the clipboard of the terminal. */
  | {type: 'copy'; text: string}
  | {type: 'quit'};

export type ReasoningMode = 'show' | 'fold' | 'hide';

export interface ControllerParts {
  backend: ChatBackend;
  start: TalkStart;
  tools: OpenedTools;
  options: Pick<ChatRunOptions, 'maxToolRounds' | 'reasoning' | 'raw'>;
  folder: string;
  /** How often a lost connection is tried again. */
  retries: number;
  tell: (news: ChatNews) => void;
  approve: Approve;
  /** What keys do, where there are any besides Enter. */
  keyHelp?: readonly (readonly [keys: string, effect: string])[];
}

export class ChatController {
  readonly backend: ChatBackend;
  readonly tools: ToolBox;
  readonly store: SessionStore;
  readonly folder: string;
  readonly tell: (news: ChatNews) => void;
  talk: TalkMessage[];
  settings: TalkSettings;
  reasoningMode: ReasoningMode;
  isRaw: boolean;
  lastStats: AnswerStats | null = null;
  /** Files that go with the next message. */
  attachments: string[] = [];
  readonly #parts: ControllerParts;
  #writer: SessionWriter | null;
  #turn: AbortController | null = null;
  #cannotSave = false;
  #knowsFacts = false;

  constructor(parts: ControllerParts) {
    const {backend, start, tools, options, folder, tell} = parts;
    this.#parts = parts;
    this.backend = backend;
    this.tools = tools.box;
    this.store = start.store;
    this.folder = folder;
    this.tell = tell;
    this.talk = start.talk;
    this.settings = start.settings;
    this.reasoningMode = options.reasoning;
    this.isRaw = options.raw;
    this.#writer = start.writer;
  }

  get keyHelp(): readonly (readonly [string, string])[] {
    return this.#parts.keyHelp ?? [];
  }

  get isBusy(): boolean {
    return this.#turn !== null;
  }

  get areToolsStarting(): boolean {
    return this.#parts.tools.isStarting();
  }

  async toolsStarted(): Promise<void> {
    await this.#parts.tools.start();
  }

  get sessionId(): string | null {
    return this.#writer?.id ?? null;
  }

  /** Asks the model. Resolves when the turn has ended, however it did. */
  async send(text: string): Promise<void> {
    this.talk.push({role: 'user', content: text});
    this.tell({type: 'question', text});
    await this.#runTurn();
  }

  /** Lets the model say something without a new question. */
  async goOn(): Promise<void> {
    await this.#runTurn();
  }

  async #runTurn(more: Record<string, unknown> = {}): Promise<void> {
    const turn = new AbortController();
    this.#turn = turn;
    const {backend, tools} = this;
    const {approve, retries, options} = this.#parts;
    const settings = {...this.settings, fields: {...this.settings.fields, ...more}};
    const parts = {
      ...{backend, settings, tools, approve, maxRounds: options.maxToolRounds, retries, signal: turn.signal},
      report: (line: string) => this.tell({type: 'tool-output', line}),
    };
    await Promise.race([this.#parts.tools.start(), once(turn.signal, 'abort')]);
    for await (const event of runTurn(this.talk, parts)) this.#note(event);
    this.#turn = null;
    await this.#tellFacts();
    await this.save();
  }

  /** Whoever answers now may have been out of reach before. */
  async #tellFacts(): Promise<void> {
    if (this.#knowsFacts) return;
    const facts = await this.backend.ready().catch(() => null);
    if (facts === null) return;
    this.#knowsFacts = true;
    this.tell({type: 'facts', facts});
  }

  /** The last user turn again, with another seed. @returns false when there is none */
  async retry(): Promise<boolean> {
    const question = this.#lastQuestion();
    if (question === -1) return false;
    await this.cutTo(question + 1);
    this.info('(another answer)');
    await this.#runTurn({seed: Math.floor(Math.random() * 2 ** 31)});
    return true;
  }

  /** Goes on with the last answer, which was cut or stopped. @returns false when there is none */
  async continueAnswer(): Promise<boolean> {
    const last = this.talk.at(-1);
    if (last?.role !== 'assistant' || last.tool_calls) return false;
    const before = last.content;
    await this.#runTurn({continue_final_message: true, add_generation_prompt: false});
    const added = this.talk.at(-1);
    if (added !== last && added?.role === 'assistant') {
      await this.cutTo(this.talk.length - 2);
      this.talk.push({...added, content: before + added.content});
      await this.save();
    }
    return true;
  }

  /** Takes the last question and all that followed out of the talk. @returns the question; null when there is none */
  async undo(): Promise<string | null> {
    const index = this.#lastQuestion();
    const message = this.talk[index];
    if (message?.role !== 'user') return null;
    await this.cutTo(index);
    return message.content;
  }

  stop(): void {
    this.#turn?.abort();
  }

  async cutTo(length: number): Promise<void> {
    this.talk.length = Math.min(this.talk.length, length);
    await this.#writer?.cut(length);
  }

  /** A new talk with the same settings, in a file of its own. */
  newTalk(): void {
    this.talk = [];
    if (this.#writer) this.#writer = new SessionWriter(this.store, newSessionId(), null);
    this.tell({type: 'talk-changed', messages: []});
  }

  openStored(session: StoredSession): void {
    this.talk = session.messages;
    if (session.settings) this.settings = session.settings;
    if (this.#writer) this.#writer = new SessionWriter(this.store, session.id, session);
    this.tell({type: 'talk-changed', messages: session.messages});
  }

  /** Writes what is new; a disk that is full is a note, once, and not an end. */
  async save(): Promise<void> {
    if (this.#writer === null || this.talk.length === 0) return;
    const {id} = this.#writer;
    try {
      const {modelName} = await this.backend.ready();
      await this.#writer.save(this.talk, this.settings, modelName);
      this.#cannotSave = false;
    } catch (error) {
      if (!this.#cannotSave) this.warn(sentence((error as Error).message));
      this.#cannotSave = true;
    }
    const now = this.#writer.id;
    if (now !== id) this.warn(`Somebody else has written to the talk ${id}. This one goes on as ${now}.`);
  }

  /** The talk goes on under another name. */
  async saveAs(name: string): Promise<void> {
    const {modelName} = await this.backend.ready();
    await this.store.write(name, []);
    const writer = new SessionWriter(this.store, name, null);
    await writer.save(this.talk, this.settings, modelName);
    this.#writer = writer;
  }

  /** As the next request would be. */
  requestBody() {
    return requestBody(this.talk, this.settings, this.tools.definitions());
  }

  setReasoning(mode: ReasoningMode): void {
    this.reasoningMode = mode;
    this.tell({type: 'reasoning-mode', mode});
  }

  setRaw(isRaw: boolean): void {
    this.isRaw = isRaw;
    this.tell({type: 'raw-mode', isRaw});
  }

  info(text: string): void {
    this.tell({type: 'note', text, tone: 'info'});
  }

  warn(text: string): void {
    this.tell({type: 'note', text, tone: 'warning'});
  }

  list(title: string, text: string): void {
    this.tell({type: 'listing', title, text});
  }

  /** The newest call with its arguments and its result, whole. */
  showLastCall(): void {
    const message = this.talk.findLast((each) => each.role === 'assistant' && each.tool_calls !== undefined);
    const call = message?.role === 'assistant' ? message.tool_calls?.at(-1) : undefined;
    if (!call) return this.info('No tool was called yet.');
    const result = this.talk.find((each) => each.role === 'tool' && each.tool_call_id === call.id);
    this.list(call.function.name, `${call.function.arguments}\n\n${result?.content ?? '(no result)'}`);
  }

  #lastQuestion(): number {
    return this.talk.findLastIndex(({role}) => role === 'user');
  }

  /** A question that nobody answered is taken back, so that it can be asked again. */
  #note(event: TurnEvent): void {
    if (event.type === 'answer-end') this.lastStats = event.stats;
    if (event.type === 'turn-end' && event.outcome === 'error') this.#takeBackQuestion();
    this.tell(event);
  }

  #takeBackQuestion(): void {
    const last = this.talk.at(-1);
    if (last?.role !== 'user') return;
    this.talk.pop();
    this.tell({type: 'edit', text: last.content});
  }
}

/** With a capital at the front. */
function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
