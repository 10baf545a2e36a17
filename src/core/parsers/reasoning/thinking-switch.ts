/** Switches of a request that say whether a thought is to be expected, by the template variables that carry them. */

export type Variables = Readonly<Record<string, unknown>>;

/** True: the model thinks. */
export type ThinkingSwitch = (variables: Variables) => boolean;

export const alwaysOn: ThinkingSwitch = () => true;

/** `enable_thinking`, on unless it is false. */
export const enableThinking: ThinkingSwitch = (variables) => variables.enable_thinking !== false;

/** `thinking` or `enable_thinking`, on unless one is false. */
export const thinkingOrEnable: ThinkingSwitch = (variables) =>
  variables.thinking !== false && enableThinking(variables);

/** `thinking` or `enable_thinking`, off unless one is true. */
export const thinkingOnRequest: ThinkingSwitch = (variables) =>
  isTrue(variables.thinking) || isTrue(variables.enable_thinking);

const NO_EFFORT: readonly unknown[] = ['no_think', 'none'];

/** `reasoning_effort`; `fallback` is what the template assumes without one. */
export function reasoningEffort(fallback: string): ThinkingSwitch {
  return (variables) => !NO_EFFORT.includes(variables.reasoning_effort ?? fallback);
}

export const thinkingOrEffort: ThinkingSwitch = (variables) =>
  thinkingOrEnable(variables) && reasoningEffort('high')(variables);

function isTrue(value: unknown): boolean {
  return value === true;
}
