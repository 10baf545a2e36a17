/** JSON as Python's `json.dumps` writes it: a space behind `:` and `,`, and everything beyond ASCII escaped. */

function escapeBeyondAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** @param value plain JSON data */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return escapeBeyondAscii(JSON.stringify(value));
  const members = Object.entries(value).map(([key, entry]) => `${spacedJson(key)}: ${spacedJson(entry)}`);
  return `{${members.join(', ')}}`;
}
