/** JSON texts of tool arguments: whether a text is JSON at all, and the same JSON with the blanks that Python writes. */

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A string, or blanks between tokens, or a mark that gets a blank behind it. */
const PARTS = /"(?:[^"\\]|\\.)*"|[\s]+|[,:]/g;

/** `{"a":1}` becomes `{"a": 1}`. Numbers and strings keep their spelling; a text that is no JSON stays as it is. */
export function spacedJsonText(text: string): string {
  if (!isJsonText(text)) return text;
  return text.replace(PARTS, (part) => {
    if (part.startsWith('"')) return part;
    return part.trim() === '' ? '' : `${part} `;
  });
}
