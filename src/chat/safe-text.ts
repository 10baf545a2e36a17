/**
 * Text of others on the terminal: a model or a tool must not move the cursor, set titles or colours. Control characters
 * become visible signs; only our own styling writes escapes.
 */

/** C0 without tab and line feed, DEL, C1, and the marks that turn the direction of text around. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** Halves of a sign, as broken texts have them; nobody can draw those. */
const halves = /\p{Surrogate}/gu;
/** Most text has nothing of all that. */
const onlySafe = /^[\n\u0020-\u007e\u00a0-\u2010\u2100-\ud7ff\ue000-\ufdcf]*$/;
const lineEnds = /\r\n?/g;
const spacesOfTab = '    ';

export function safeText(text: string): string {
  if (onlySafe.test(text)) return text;
  return text.replace(lineEnds, '\n').replaceAll('\t', spacesOfTab).replace(unsafe, visible).replace(halves, '�');
}

/** For plain output, where a tab stays a tab. */
export function withoutControls(text: string): string {
  return text.replace(unsafe, (sign) => (sign === '\r' ? sign : visible(sign)));
}

function visible(sign: string): string {
  const code = sign.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : '�';
}
