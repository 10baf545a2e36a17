/** Placeholder header; written below. */
export function prepareChatBody(body: unknown): unknown {
  return body;
}
export function checkChatBody(_body: unknown): void {}
