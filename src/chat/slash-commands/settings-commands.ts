/** Slash commands that change what requests carry: system message, fields, variables of the template, thoughts. */
import type {ChatController, ReasoningMode} from '../chat-controller.ts';
import type {SlashCommand} from './slash-command.ts';

const reasoningModes: readonly string[] = ['show', 'fold', 'hide'];

/** A command that shows and changes a part of the settings. */
export function changesFields(part: 'fields' | 'templateKwargs', title: string): SlashCommand['run'] {
  return (chat, argument) => {
    chat.settings = {...chat.settings, [part]: changed(chat.settings[part], argument)};
    chat.list(title, tableOf(chat.settings[part]));
  };
}

/** Shows the system message, sets it, or takes it away (`-`). */
export function setSystem(chat: ChatController, text: string): void {
  if (text === '') return chat.info(chat.settings.systemPrompt ?? 'There is no system message.');
  chat.settings = {...chat.settings, systemPrompt: text === '-' ? null : text};
  chat.info(text === '-' ? 'The system message is gone.' : 'The system message is set.');
}

const setRequestField = changesFields('fields', 'Fields of the request');

/** Fields of the request, and `keepReasoning`, which is none but is set in the same way. */
export function setField(chat: ChatController, argument: string): void {
  if (argument.startsWith('keepReasoning ')) return setKeepReasoning(chat, argument.slice('keepReasoning '.length));
  setRequestField(chat, argument);
}

function setKeepReasoning(chat: ChatController, mode: string): void {
  if (mode !== 'auto' && mode !== 'always' && mode !== 'never')
    return chat.warn('keepReasoning is auto, always or never.');
  chat.settings = {...chat.settings, keepReasoning: mode};
  chat.info(`Thoughts are sent back: ${mode}`);
}

/** `name value` puts a value there, JSON when it reads as such; `name` alone takes it away. */
function changed(fields: Record<string, unknown>, argument: string): Record<string, unknown> {
  if (argument === '') return fields;
  const [, name, text] = /^(\S+)\s*([\s\S]*)$/.exec(argument)!;
  if (text !== '') return {...fields, [name!]: parsedValue(text!)};
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tableOf(fields: Record<string, unknown>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return lines.length === 0 ? '(none)' : lines.join('\n');
}

/** Turns thinking on or off for templates that can, or says how thoughts are shown. */
export function setThinking(chat: ChatController, argument: string): void {
  if (reasoningModes.includes(argument)) return chat.setReasoning(argument as ReasoningMode);
  if (argument !== 'on' && argument !== 'off') return chat.warn('Say /think on, off, show, fold or hide.');
  const templateKwargs = {...chat.settings.templateKwargs, enable_thinking: argument === 'on'};
  chat.settings = {...chat.settings, templateKwargs};
  chat.info(`Thinking is ${argument}, for templates that know enable_thinking.`);
}
