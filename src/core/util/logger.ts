/** The logger that is passed into everything that logs. pino fits; below the edge nobody imports pino. */

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The same logger, with these fields in every line. */
export function withFields(logger: Logger, common: object): Logger {
  const log = (level: keyof Logger) => (fields: object, message: string) =>
    logger[level]({...common, ...fields}, message);
  return {debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error')};
}

/** Logs nothing; the default of library use and of tests. */
export const silentLogger: Logger = {debug() {}, info() {}, warn() {}, error() {}};
