/** The slash commands as a table: name, form, one line of help, and what it does with the talk. */
import {writeFile} from 'node:fs/promises';
import {UsageError} from '../../core/errors.ts';
import {writeFault} from '../../core/util/file-fault.ts';
import {nearestName} from '../../core/util/nearest-name.ts';
import {fileText} from '../attach-files.ts';
import type {ChatController} from '../chat-controller.ts';
import {statsLine} from '../format-stats.ts';
import {exportMarkdown} from './export-talk.ts';
import {changesFields, setField, setSystem, setThinking} from './settings-commands.ts';
import type {SlashCommand} from './slash-command.ts';

const maxListed = 30;

const slashCommands: readonly SlashCommand[] = [
  {names: ['help', '?'], form: '', description: 'This list', run: showHelp},
  {names: ['model'], form: '[NAME]', description: 'List the models, or ask another one', run: chooseModel},
  {names: ['system'], form: '[TEXT]', description: 'Show or set the system message; - takes it away', run: setSystem},
  {
    names: ['set'],
    form: '[FIELD VALUE]',
    description: 'Any field of the request, e.g. temperature 0.2; without VALUE it goes',
    run: setField,
  },
  {
    names: ['template'],
    form: '[KEY VALUE]',
    description: 'Variables of the chat template',
    run: changesFields('templateKwargs', 'Variables of the chat template'),
  },
  {
    names: ['think'],
    form: 'on|off|show|fold|hide',
    description: 'Let the model think, or choose what is shown of it',
    run: setThinking,
  },
  {
    names: ['file'],
    form: 'PATH',
    description: 'Attach a text file to the next message; @PATH in the text does the same',
    run: attachFile,
  },
  {
    names: ['image'],
    form: 'PATH',
    description: 'Attach an image, for models that see',
    run: (chat) => chat.warn('Images cannot be sent: this chat takes text only.'),
  },
  {names: ['tools'], form: '[on|off NAME]', description: 'List the tools, or switch one', run: switchTools},
  {
    names: ['mcp'],
    form: '',
    description: 'List the tools of MCP servers',
    run: listMcpTools,
  },
  {
    names: ['retry'],
    form: '',
    description: 'Answer the last message again',
    run: orWarns((chat) => chat.retry(), 'There is no message yet.'),
  },
  {names: ['edit'], form: '', description: 'Take the last message back into the input', run: edit},
  {
    names: ['continue'],
    form: '',
    description: 'Go on with the last answer',
    run: orWarns((chat) => chat.continueAnswer(), 'There is no answer to go on with.'),
  },
  {names: ['undo'], form: '', description: 'Take the last message and its answer out of the talk', run: undo},
  {names: ['new'], form: '', description: 'Begin a new talk', run: (chat) => chat.newTalk()},
  {names: ['clear'], form: '', description: 'Begin a new talk on a clear screen', run: clear},
  {names: ['save'], form: '[NAME]', description: 'Keep the talk under a name', run: save},
  {names: ['load'], form: 'NAME', description: 'Go on with a stored talk', run: load},
  {names: ['sessions'], form: '', description: 'List the stored talks', run: listSessions},
  {names: ['export'], form: 'FILE.md|FILE.json', description: 'Write the talk to a file', run: exportTalk},
  {names: ['copy'], form: '[code|all]', description: 'Copy the last answer, its code, or the whole talk', run: copy},
  {names: ['stats'], form: '', description: 'Tokens and speed of the last answer', run: showStats},
  {names: ['tokens'], form: '', description: 'Tokens of each message', run: countTokens},
  {names: ['prompt'], form: '', description: 'The prompt as the model sees it', run: showPrompt},
  {names: ['raw'], form: '[on|off]', description: 'The last answer as JSON; on and off switch Markdown', run: showRaw},
  {names: ['quit', 'bye', 'exit'], form: '', description: 'Leave', run: (chat) => chat.tell({type: 'quit'})},
];

export const slashCommandNames: readonly string[] = slashCommands.flatMap(({names}) => names);

/** Runs a command; a mistake is a note. */
export async function runSlashCommand(chat: ChatController, name: string, argument: string): Promise<void> {
  const command = slashCommands.find(({names}) => names.includes(name));
  if (!command) return unknownCommand(chat, name);
  try {
    await command.run(chat, argument);
  } catch (error) {
    const {message, hint} = error as Error & {hint?: string | null};
    chat.tell({type: 'note', text: hint ? `${message}\n${hint}` : message, tone: 'error'});
  }
}

function unknownCommand(chat: ChatController, name: string): void {
  const near = nearestName(name, slashCommandNames);
  chat.warn(
    `There is no command /${name}.${near ? ` Did you mean /${near}?` : ''} Nothing was sent; //${name} sends it as text.`,
  );
}

function showHelp(chat: ChatController): void {
  const rows = slashCommands.map(
    ({names, form, description}) => [`/${names.join(', /')} ${form}`.trimEnd(), description] as const,
  );
  chat.list('Commands', inColumns(rows));
  if (chat.keyHelp.length > 0) chat.list('Keys', inColumns(chat.keyHelp));
}

function inColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `${first.padEnd(width)}  ${second}`).join('\n');
}

/** A command that may find nothing to work on. */
function orWarns(act: (chat: ChatController) => Promise<boolean>, warning: string): SlashCommand['run'] {
  return async (chat) => {
    if (!(await act(chat))) chat.warn(warning);
  };
}

async function chooseModel(chat: ChatController, name: string): Promise<void> {
  if (name !== '') {
    const facts = await chat.backend.use(name);
    chat.tell({type: 'facts', facts});
    return chat.info(`Answers come from ${facts.modelName} now.`);
  }
  const [models, {modelName}] = await Promise.all([chat.backend.listModels(), chat.backend.ready()]);
  chat.list('Models', models.map((model) => `${model === modelName ? '*' : ' '} ${model}`).join('\n'));
}

async function attachFile(chat: ChatController, path: string): Promise<void> {
  if (path === '') return chat.warn('Say which file: /file PATH');
  chat.attachments.push(await fileText(path));
  chat.info(`${path} goes with the next message.`);
}

function switchTools(chat: ChatController, argument: string): void {
  const [, state, name] = /^(on|off)\s+(\S+)$/.exec(argument) ?? [];
  if (argument !== '' && !name) return chat.warn('Say /tools, /tools on NAME or /tools off NAME.');
  if (name && !chat.tools.switch(name, state === 'on')) return chat.warn(`There is no tool ${name}.`);
  listTools(chat, 'Tools', '');
}

/** @param part of the names that are shown */
function listTools(chat: ChatController, title: string, part: string): void {
  const shown = chat.tools.list().filter(({tool}) => tool.name.includes(part));
  if (shown.length === 0) return chat.list(title, '(none; --tools safe and --mcp-config FILE bring some)');
  chat.list(title, inColumns(shown.map(({tool, isOn}) => [`${isOn ? 'on ' : 'off'} ${tool.name}`, tool.description])));
}

async function listMcpTools(chat: ChatController): Promise<void> {
  if (chat.areToolsStarting) chat.info('The MCP servers are starting.');
  await chat.toolsStarted();
  listTools(chat, 'Tools of MCP servers', '__');
}

async function edit(chat: ChatController): Promise<void> {
  const question = await chat.undo();
  if (question === null) return chat.warn('There is no message yet.');
  chat.tell({type: 'edit', text: question});
}

async function undo(chat: ChatController): Promise<void> {
  const question = await chat.undo();
  chat.info(question === null ? 'There is no message yet.' : `Taken back: ${question.split('\n')[0]}`);
}

function clear(chat: ChatController): void {
  chat.newTalk();
  chat.tell({type: 'clear'});
}

async function save(chat: ChatController, name: string): Promise<void> {
  if (name !== '') await chat.saveAs(name);
  else await chat.save();
  const id = chat.sessionId;
  chat.info(
    id === null
      ? 'Nothing is kept (--no-save); /save NAME keeps this talk.'
      : `Kept as ${id}; parlance chat --resume ${id} goes on.`,
  );
}

async function load(chat: ChatController, name: string): Promise<void> {
  if (name === '') return listSessions(chat);
  const session = await chat.store.read(name);
  chat.openStored(session);
  chat.info(`${session.messages.length} messages of ${session.id}`);
}

async function listSessions(chat: ChatController): Promise<void> {
  const entries = (await chat.store.list()).slice(0, maxListed);
  const lines = await chat.store.describe(entries);
  const marked = lines.map((line, at) => `${entries[at]!.id === chat.sessionId ? '*' : ' '} ${line}`);
  chat.list('Stored talks', marked.length === 0 ? '(none)' : marked.join('\n'));
}

async function exportTalk(chat: ChatController, path: string): Promise<void> {
  if (!/\.(md|json)$/.test(path)) return chat.warn('Say where: /export FILE.md or /export FILE.json');
  const {messages} = chat.requestBody();
  const text = path.endsWith('.json') ? JSON.stringify({messages}, null, 2) : exportMarkdown(messages);
  await writeFile(path, `${text}\n`, {flag: 'wx'}).catch((cause) => {
    throw new UsageError(`${path} cannot be written: ${writeFault(cause)}`, {cause});
  });
  chat.info(`Written to ${path}`);
}

function copy(chat: ChatController, what: string): void {
  const text = copiedText(chat, what);
  if (text === null) return chat.warn('There is nothing to copy.');
  chat.tell({type: 'copy', text});
  chat.info(`${text.length} characters copied`);
}

function copiedText(chat: ChatController, what: string): string | null {
  if (what === 'all') return exportMarkdown(chat.requestBody().messages);
  const answer = chat.talk.findLast(({role}) => role === 'assistant');
  if (answer === undefined || answer.content === '') return null;
  if (what !== 'code') return answer.content;
  const blocks = [...answer.content.matchAll(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^\1/gm)].map(([, , code]) => code!);
  return blocks.length === 0 ? null : blocks.join('\n');
}

function showStats(chat: ChatController): void {
  if (chat.lastStats === null) return chat.info('There is no answer yet.');
  chat.info(statsLine(chat.lastStats));
}

async function countTokens(chat: ChatController): Promise<void> {
  const {messages} = chat.requestBody();
  let before = 0;
  const lines: string[] = [];
  for (const [index, message] of messages.entries()) {
    const total = await chat.backend.countTokens(messages.slice(0, index + 1));
    lines.push(
      `${String(total - before).padStart(6)}  ${message.role.padEnd(9)} ${message.content.slice(0, 50).replaceAll('\n', ' ')}`,
    );
    before = total;
  }
  chat.list('Tokens', [...lines, `${String(before).padStart(6)}  in all`].join('\n'));
}

async function showPrompt(chat: ChatController): Promise<void> {
  chat.list('Prompt', await chat.backend.renderPrompt(chat.requestBody()));
}

function showRaw(chat: ChatController, argument: string): void {
  if (argument === 'on' || argument === 'off') {
    chat.setRaw(argument === 'on');
    return chat.info(argument === 'on' ? 'Answers are shown as they come.' : 'Answers are read as Markdown.');
  }
  const answer = chat.talk.findLast(({role}) => role === 'assistant');
  chat.list('Last answer', answer ? JSON.stringify(answer, null, 2) : '(none)');
}
