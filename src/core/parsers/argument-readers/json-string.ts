/** The inside of a JSON string, piece by piece: halves of a character that a cut tore apart join again. */

const MUST_ESCAPE = /["\\\u0000-\u001f]/g;

export function escapeJsonText(text: string): string {
  return text.replace(MUST_ESCAPE, (character) => JSON.stringify(character).slice(1, -1));
}
