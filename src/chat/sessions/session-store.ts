/**
 * Talks as files: JSON lines, the first one a header, then whatever happened, appended turn by turn. A talk is what its
 * lines say when they are played in order: messages are added, `cut` takes the newest away, `settings` replaces them.
 * Readable by the owner only; keys and environments never get here.
 */
import {randomBytes} from 'node:crypto';
import {appendFile, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import * as z from 'zod';
import {ServingError, UsageError} from '../../core/errors.ts';
import {writeFault} from '../../core/util/file-fault.ts';
import type {TalkMessage} from '../conversation/messages.ts';
import type {TalkSettings} from '../conversation/settings.ts';

const toolCallSchema = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({name: z.string(), arguments: z.string()}),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({role: z.literal('user'), content: z.string()}),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z.string().optional(),
    tool_calls: z.array(toolCallSchema).optional(),
  }),
  z.object({role: z.literal('tool'), tool_call_id: z.string(), content: z.string()}),
]);

const settingsSchema = z.object({
  systemPrompt: z.string().nullable(),
  fields: z.record(z.string(), z.unknown()),
  templateKwargs: z.record(z.string(), z.unknown()),
  keepReasoning: z.enum(['auto', 'always', 'never']),
});

const lineSchema = z.discriminatedUnion('type', [
  z.object({type: z.literal('header'), id: z.string(), model: z.string(), created: z.string()}),
  z.object({type: z.literal('settings'), settings: settingsSchema}),
  z.object({type: z.literal('message'), message: messageSchema}),
  z.object({type: z.literal('cut'), length: z.number()}),
]);

type SessionLine = z.infer<typeof lineSchema>;

export interface StoredSession {
  id: string;
  model: string;
  messages: TalkMessage[];
  settings: TalkSettings | null;
  /** Of the file when it was read. */
  bytes: number;
  /** A crash left half a line at the end. */
  endsInMiddle: boolean;
}

export interface SessionEntry {
  id: string;
  changed: Date;
}

/** Folder of talks by the rules of the system. */
export function sessionFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'parlance', 'sessions');
}

export class SessionStore {
  readonly #folder: string;

  constructor(folder: string = sessionFolder()) {
    this.#folder = folder;
  }

  /** The newest first. */
  async list(): Promise<SessionEntry[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const files = names.filter((name) => name.endsWith('.jsonl'));
    const entries = await Promise.all(
      files.map(async (name) => ({
        id: name.slice(0, -'.jsonl'.length),
        changed: (await stat(join(this.#folder, name))).mtime,
      })),
    );
    return entries.sort((left, right) => right.changed.getTime() - left.changed.getTime());
  }

  /** @param name an id, or the beginning of one only @throws UsageError when there is no such talk */
  async read(name: string): Promise<StoredSession> {
    const entries = await this.list();
    const fitting = entries.filter(({id}) => id.startsWith(name));
    const found = fitting.find(({id}) => id === name) ?? (fitting.length === 1 ? fitting[0] : undefined);
    if (found) return this.#readFile(found.id);
    const choice = fitting.length > 1 ? fitting : entries;
    throw unknownTalk(name, choice, await this.describe(choice.slice(0, maxNamed)));
  }

  async #readFile(id: string): Promise<StoredSession> {
    return playBytes(id, await readFile(this.#path(id)));
  }

  /** A line for each talk: its id, when it last went on, and how it began. */
  async describe(entries: readonly SessionEntry[]): Promise<string[]> {
    const widest = Math.max(...entries.map(({id}) => id.length));
    const describeOne = async ({id, changed}: SessionEntry) => {
      const {messages} = await this.#readFile(id);
      const beginning =
        messages
          .find(({role}) => role === 'user')
          ?.content.trim()
          .slice(0, maxBeginning) ?? '';
      return `${id.padEnd(widest)}  ${changed.toLocaleString('sv-SE').slice(0, -3)}  ${beginning.replace(/\s+/g, ' ')}`.trimEnd();
    };
    return Promise.all(entries.map(describeOne));
  }

  /** @throws UsageError when there is none */
  async newest(): Promise<StoredSession> {
    const [entry] = await this.list();
    if (!entry) throw new UsageError('there is no session to continue');
    return this.read(entry.id);
  }

  /** @throws ServingError when the place cannot be written */
  async append(id: string, lines: readonly SessionLine[], start = ''): Promise<void> {
    const path = this.#path(id);
    const text = start + lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    try {
      await mkdir(this.#folder, {recursive: true, mode: 0o700});
      await appendFile(path, text, {mode: 0o600});
    } catch (cause) {
      throw new ServingError(`the talk could not be saved: ${writeFault(cause)}`, {cause});
    }
  }

  /** Null when there is no such file. */
  async size(id: string): Promise<number | null> {
    return stat(this.#path(id)).then(
      ({size}) => size,
      () => null,
    );
  }

  /** Puts a talk under another name. @throws UsageError when the name is taken */
  async write(id: string, lines: readonly SessionLine[]): Promise<void> {
    await mkdir(this.#folder, {recursive: true, mode: 0o700});
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(this.#path(id), text, {mode: 0o600, flag: 'wx'}).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
      throw new UsageError(`there is a session ${id} already`, {hint: 'take another name', cause});
    });
  }

  #path(id: string): string {
    checkSessionName(id);
    return join(this.#folder, `${id}.jsonl`);
  }
}

/** @throws UsageError when it could not be the name of a file */
export function checkSessionName(id: string): void {
  if (/^[\w.-]{1,100}$/.test(id) && !id.startsWith('.')) return;
  throw new UsageError(`"${id}" cannot be the name of a session`, {hint: 'letters, digits, . _ and -'});
}

const maxNamed = 10;
/** Characters of the first question that tell a talk from others. */
const maxBeginning = 50;
/** `--resume` without a name. */
const noName = '?';

function unknownTalk(name: string, entries: readonly SessionEntry[], lines: readonly string[]): UsageError {
  const hint = lines.length === 0 ? 'nothing is stored yet' : `stored, the newest first:\n${lines.join('\n')}`;
  return new UsageError(whatIsUnknown(name, entries), {hint});
}

function whatIsUnknown(name: string, entries: readonly SessionEntry[]): string {
  if (name === noName) return 'which talk?';
  const isBeginning = entries.some(({id}) => id.startsWith(name));
  return isBeginning ? `more than one talk begins with ${name}` : `there is no talk ${name}`;
}

export function newSessionId(now = new Date()): string {
  const time = now.toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `${time}-${randomBytes(2).toString('hex')}`;
}

/** A line that was cut by a crash, or that a newer version wrote, is left out. */
function parseLines(text: string): SessionLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = lineSchema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}

function playBytes(id: string, content: Buffer): StoredSession {
  const text = content.toString('utf8');
  const endsInMiddle = text !== '' && !text.endsWith('\n');
  const session: StoredSession = {id, model: '', messages: [], settings: null, bytes: content.length, endsInMiddle};
  for (const line of parseLines(text)) {
    if (line.type === 'header') session.model = line.model;
    else if (line.type === 'settings') session.settings = line.settings;
    // The schema knows absent keys as undefined; JSON has none of those.
    else if (line.type === 'message') session.messages.push(line.message as TalkMessage);
    else session.messages.length = Math.min(line.length, session.messages.length);
  }
  return session;
}

/**
 * Writes a talk as it grows: only what is new since the last call. When somebody else has written to the file, the talk
 * goes on in a file of its own, because two talks in one would be neither.
 */
export class SessionWriter {
  readonly #store: SessionStore;
  #id: string;
  #numWritten: number;
  #writtenSettings: string | null = null;
  #hasHeader: boolean;
  /** Of the file after the last writing; null before the first. */
  #bytes: number | null;
  #start: string;

  /** @param resumed the talk goes on in its own file */
  constructor(store: SessionStore, id: string, resumed: StoredSession | null) {
    this.#store = store;
    this.#id = resumed?.id ?? id;
    this.#numWritten = resumed?.messages.length ?? 0;
    this.#hasHeader = resumed !== null;
    this.#bytes = resumed?.bytes ?? null;
    this.#start = resumed?.endsInMiddle ? '\n' : '';
    if (resumed?.settings) this.#writtenSettings = JSON.stringify(resumed.settings);
  }

  get id(): string {
    return this.#id;
  }

  /** Messages are only ever added at the end or cut off there. @throws ServingError */
  async save(talk: readonly TalkMessage[], settings: TalkSettings, model: string): Promise<void> {
    if (await this.#isForeign()) this.#moveAway();
    const lines = this.#news(talk, settings, model);
    if (lines.length === 0) return;
    // While this is written, the talk may go on.
    const written = {settings: JSON.stringify(settings), length: talk.length};
    await this.#append(lines);
    this.#hasHeader = true;
    this.#writtenSettings = written.settings;
    this.#numWritten = written.length;
  }

  /** The talk was shortened to so many messages. */
  async cut(length: number): Promise<void> {
    if (length >= this.#numWritten) return;
    this.#numWritten = length;
    if (await this.#isForeign()) this.#moveAway();
    else await this.#append([{type: 'cut', length}]);
  }

  async #isForeign(): Promise<boolean> {
    return ((await this.#store.size(this.#id)) ?? 0) !== (this.#bytes ?? 0);
  }

  #moveAway(): void {
    this.#id = newSessionId();
    this.#numWritten = 0;
    this.#hasHeader = false;
    this.#writtenSettings = null;
    this.#bytes = null;
    this.#start = '';
  }

  async #append(lines: readonly SessionLine[]): Promise<void> {
    await this.#store.append(this.#id, lines, this.#start);
    this.#start = '';
    this.#bytes = await this.#store.size(this.#id);
  }

  #news(talk: readonly TalkMessage[], settings: TalkSettings, model: string): SessionLine[] {
    const lines: SessionLine[] = [];
    if (!this.#hasHeader) lines.push({type: 'header', id: this.#id, model, created: new Date().toISOString()});
    if (JSON.stringify(settings) !== this.#writtenSettings) lines.push({type: 'settings', settings});
    const added = talk.slice(this.#numWritten) as Extract<SessionLine, {type: 'message'}>['message'][];
    lines.push(...added.map((message) => ({type: 'message' as const, message})));
    return lines;
  }
}
