/**
 * A prompt in parts, for prompts whose text alone does not say where control tokens stand. `marked` parts may hold
 * control tokens, `plain` parts are text to the last character, whatever it looks like.
 */

export interface PromptPart {
  kind: 'marked' | 'plain';
  text: string;
}

/** A prompt as a whole, where every control token counts, or in parts. */
export type PromptSource = string | readonly PromptPart[];

export function sourceText(source: PromptSource): string {
  return typeof source === 'string' ? source : source.map(({text}) => text).join('');
}
