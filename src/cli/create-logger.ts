/** The logger of a command: pino on stderr, as readable lines in a terminal and as JSON otherwise. */
import pino from 'pino';
import pretty from 'pino-pretty';
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
  if (asText) return pino({level, base: null}, prettyStream(options));
  const formatters = {level: (label: string) => ({level: label})};
  return pino({level, base: null, timestamp: isoTime, formatters}, stream);
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
