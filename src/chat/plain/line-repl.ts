/**
 * A talk line by line, for terminals without cursor movement and for screen readers: nothing is ever drawn twice. Ctrl-C
 * stops an answer, and leaves when there is none.
 */
import {createInterface, type Interface} from 'node:readline';
import {openBackend} from '../backend/open-backend.ts';
import {ChatController, type ChatNews} from '../chat-controller.ts';
import type {ChatRunOptions, ChatTerminal} from '../chat-terminal.ts';
import type {ToolCall} from '../conversation/messages.ts';
import type {Approval} from '../conversation/run-turn.ts';
import {withoutControls} from '../safe-text.ts';
import type {TalkStart} from '../sessions/open-talk.ts';
import {isUnfinished} from '../slash-commands/parse-input.ts';
import {submitInput} from '../submit-input.ts';
import {openTools, unreadCallsNote} from '../tools/open-tools.ts';
import {PlainPrinter} from './one-turn.ts';

const retries = 5;

/** @returns the exit code */
export async function runLineRepl(options: ChatRunOptions, start: TalkStart, terminal: ChatTerminal): Promise<number> {
  const tools = await openTools(options, terminal.folder);
  const backend = await openBackend(options, terminal, (progress) => terminal.onProgress(progress));
  const lines = new LineReader(terminal);
  try {
    const facts = await backend.ready();
    const {modelName} = facts;
    terminal.finishProgress();
    const startNotes = await tools.start();
    for (const note of [...startNotes, unreadCallsNote(facts, tools.box)].filter((each) => each !== null))
      terminal.writeError(`${note}\n`);
    terminal.write(`${modelName}. /help lists the commands, /quit leaves.\n`);
    const repl = new LineRepl(options, terminal, lines);
    const chat = new ChatController({
      ...{backend, start, tools, options, folder: terminal.folder, retries},
      tell: (news) => repl.show(news),
      approve: (call, {canAllow}) => lines.askApproval(call, canAllow),
    });
    tools.onNote((note) => chat.warn(note));
    await repl.run(chat);
    return 0;
  } finally {
    terminal.finishProgress();
    lines.close();
    await Promise.all([backend.close(), tools.close()]);
  }
}

class LineRepl {
  readonly #printer: PlainPrinter;
  readonly #terminal: ChatTerminal;
  readonly #lines: LineReader;
  #hasQuit = false;

  constructor(options: ChatRunOptions, terminal: ChatTerminal, lines: LineReader) {
    this.#printer = new PlainPrinter({...options, json: false}, terminal);
    this.#terminal = terminal;
    this.#lines = lines;
  }

  async run(chat: ChatController): Promise<void> {
    this.#lines.onInterrupt = () => {
      if (chat.isBusy) chat.stop();
      else this.#lines.close();
    };
    while (!this.#hasQuit) {
      const input = await this.#lines.readInput();
      if (input === null) return;
      await submitInput(chat, input);
    }
  }

  show(news: ChatNews): void {
    switch (news.type) {
      case 'note':
        return this.#line(news.text);
      case 'listing':
        return this.#line(`${news.title}:\n${news.text}`);
      case 'edit':
        return this.#line(`(to send again) ${news.text}`);
      case 'quit':
        this.#hasQuit = true;
        return;
      case 'turn-end':
        if (news.outcome === 'stopped') this.#line('(stopped)');
        if (news.error) this.#line(`Error: ${news.error.message}`);
        return this.#printer.print(news);
      case 'question':
      case 'facts':
      case 'tool-output':
      case 'reasoning-mode':
      case 'raw-mode':
      case 'talk-changed':
      case 'clear':
      case 'copy':
        return;
      default:
        this.#printer.print(news);
    }
  }

  #line(text: string): void {
    this.#terminal.write(`${withoutControls(text)}\n`);
  }
}

/** Lines of a person, one after the other, also those that were typed ahead. */
class LineReader {
  readonly #interface: Interface;
  readonly #waiting: ((line: string | null) => void)[] = [];
  readonly #typedAhead: string[] = [];
  #isClosed = false;
  onInterrupt: () => void = () => this.close();

  constructor({stdin, stdout}: ChatTerminal) {
    this.#interface = createInterface({
      input: stdin,
      output: stdout,
      terminal: stdin.isTTY === true && process.env.TERM !== 'dumb',
    });
    this.#interface.on('line', (line) => {
      const waiting = this.#waiting.shift();
      if (waiting) waiting(line);
      else this.#typedAhead.push(line);
    });
    this.#interface.on('SIGINT', () => this.onInterrupt());
    this.#interface.on('close', () => {
      this.#isClosed = true;
      for (const waiting of this.#waiting.splice(0)) waiting(null);
    });
  }

  /** A whole message; null at the end. */
  async readInput(): Promise<string | null> {
    let input = await this.#read('> ');
    while (input !== null && isUnfinished(input)) {
      const next = await this.#read('. ');
      if (next === null) return input;
      input = `${input.replace(/\\$/, '')}\n${next}`;
    }
    return input;
  }

  async askApproval({function: {name, arguments: text}}: ToolCall, canAllow: boolean): Promise<Approval> {
    const keys = canAllow ? 'y once, a always, n no' : 'y once, n no';
    const answer = await this.#read(`Run ${name}(${withoutControls(text)})? ${keys}: `);
    const word = answer?.trim().toLowerCase() ?? 'n';
    if (word === 'y' || word === 'yes') return {type: 'once'};
    if (canAllow && (word === 'a' || word === 'always')) return {type: 'always'};
    return {type: 'no', reason: word === 'n' || word === 'no' ? '' : (answer ?? '')};
  }

  close(): void {
    this.#interface.close();
  }

  #read(prompt: string): Promise<string | null> {
    const line = this.#typedAhead.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#isClosed) return Promise.resolve(null);
    this.#interface.setPrompt(prompt);
    this.#interface.prompt();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
