/** The logger of a command: pino on stderr, as readable lines in a terminal and as JSON otherwise. */
import pino from 'pino';
import pretty from 'pino-pretty';
import {EngineDeadError} from '../core/errors.ts';
import type {Logger} from '../core/util/logger.ts';
import type {TerminalOptions} from './terminal-options.ts';

/** Names of vLLM and uvicorn -> names of pino. */
const pinoLevels: Readonly<Record<TerminalOptions['logLevel'], pino.Level>> = {
  critical: 'fatal',
  error: 'error',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
  trace: 'trace',
};

export interface LoggerOptions extends Pick<TerminalOptions, 'logLevel' | 'logFormat'> {
  isTerminal: boolean;
  hasColour: boolean;
  write: (text: string) => void;
}

export function createLogger(options: LoggerOptions): Logger {
  const level = pinoLevels[options.logLevel];
  const asText = options.logFormat === 'auto' ? options.isTerminal : options.logFormat === 'text';
  const stream = {write: options.write};
  const serializers = {err: errorFields};
  if (asText) return pino({level, base: null, serializers, hooks: {logMethod: logOnTerminal}}, prettyStream(options));
  const formatters = {level: (label: string) => ({level: label})};
  return pino({level, base: null, serializers, timestamp: isoTime, formatters}, stream);
}

/** The stack says where a fault of ours is; an engine that is gone has a reason, which no stack knows. */
function errorFields(error: Error): object {
  if (!(error instanceof EngineDeadError)) return pino.stdSerializers.err(error);
  const {message} = error.cause instanceof Error ? error.cause : error;
  return {type: error.name, message};
}

/** All callers give fields and a message (`Logger`). */
function logOnTerminal(this: pino.Logger, [fields, message]: Parameters<pino.LogFn>, method: pino.LogFn): void {
  method.call(this, fields, shownMessage(String(message)));
}

/** C0 without line feed, DEL, C1, and the marks that turn the direction of text around. */
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A message may quote a client: what is sent must not pass for a line of ours, or steer the terminal. */
function shownMessage(message: string): string {
  const escaped = message.replace(controls, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return escaped.replaceAll('\n', '\n    ');
}

const isoTime = () => `,"time":"${new Date().toISOString()}"`;

function prettyStream({hasColour, write}: LoggerOptions): pino.DestinationStream {
  const layout = {
    colorize: hasColour,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  } as const;
  const lines = pretty.prettyFactory(layout);
  return {write: (line) => write(lines(line))};
}
