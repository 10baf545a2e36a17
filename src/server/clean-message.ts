/**
 * Takes out of error messages what tells about the machine: addresses, tracebacks, file paths. Messages quote what clients
 * sent, so every step takes time in proportion to the length: no pattern here begins at many places and runs far.
 */

const SYSTEM_PATH = /(?<![\w/:<])\/(?:home|usr|opt|var|tmp|root|lib|mnt|srv)\/[^\s'"`,;)\]}>]*/g;
const MEMORY_ADDRESS = / at 0x[0-9a-fA-F]+(?=>)/g;
/** White space within a line. */
const SPACE = '[^\\S\\n\\r\\u2028\\u2029]*';
/** A name in angle brackets is no file: `File "<introspection>", line 1`. */
const TRACEBACK_LINE = new RegExp(
  `^${SPACE}(?:Traceback \\(most recent call last\\):|File "(?!<).*", line \\d+.*)${SPACE}$`,
  'gm',
);

/** Everything between characters that no path has. */
const PATH_CHARACTERS = /[\w.+@/-]+/g;
const CANNOT_STAND_BEFORE = /[\w/:<]/;
/** Names, each behind a slash. */
const NAMES = /(?:\/[\w.+@-]+)+/y;
/** Of two names and more, up to the last ending: `/models/m.gguf`. */
const FILE_PATH = /^\/[\w.+@-]+\/[\w.+@/-]*\.\w+/;

/** Paths become `<path>`, addresses and lines of tracebacks go. */
export function cleanMessage(message: string): string {
  return message
    .replace(MEMORY_ADDRESS, '')
    .replace(TRACEBACK_LINE, '')
    .replace(SYSTEM_PATH, '<path>')
    .replace(PATH_CHARACTERS, withoutFilePaths)
    .trim();
}

/** Goes on behind all names that follow one another, whether they were a path or not. */
function withoutFilePaths(run: string, offset: number, message: string): string {
  let kept = '';
  let position = 0;
  for (let slash = run.indexOf('/'); slash !== -1; slash = run.indexOf('/', position)) {
    const before = slash > 0 ? run[slash - 1] : message[offset - 1];
    const names = before === undefined || !CANNOT_STAND_BEFORE.test(before) ? namesAt(run, slash) : '/';
    const path = FILE_PATH.exec(names)?.[0] ?? null;
    kept += run.slice(position, slash) + (path === null ? names : '<path>');
    position = slash + (path ?? names).length;
  }
  return kept + run.slice(position);
}

function namesAt(run: string, slash: number): string {
  NAMES.lastIndex = slash;
  return NAMES.exec(run)?.[0] ?? '/';
}
