/** What a person typed: a message, a command with its argument, or nothing. `//x` sends `/x`, `"""` only encloses lines. */

export type ParsedInput = {type: 'message'; text: string} | {type: 'command'; name: string; argument: string};

/** Null when there is nothing to do. */
export function parseInput(input: string): ParsedInput | null {
  const text = unquoted(input.trim());
  if (text === '') return null;
  if (text.startsWith('//')) return {type: 'message', text: text.slice(1)};
  // A path such as /etc/hosts has a second slash in its first word and is no command.
  const match = /^\/([a-z?]+)(?:\s+([\s\S]*))?$/i.exec(text);
  if (!match) return {type: 'message', text};
  return {type: 'command', name: match[1]!.toLowerCase(), argument: (match[2] ?? '').trim()};
}

function unquoted(text: string): string {
  const match = /^"""\n?([\s\S]*?)\n?"""$/.exec(text);
  return match ? match[1]! : text;
}

/** True while a block of `"""` is open or the last line ends in a backslash. */
export function isUnfinished(input: string): boolean {
  const marks = input.split('"""').length - 1;
  return (input.trimStart().startsWith('"""') && marks % 2 === 1) || input.endsWith('\\');
}

/** Words like `@notes.txt` that name a file. */
export function mentionedPaths(text: string): string[] {
  return [...text.matchAll(/(?:^|\s)@([^\s@]+)/g)].map(([, path]) => path!);
}
