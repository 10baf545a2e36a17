/**
 * `continue_final_message`: the last message is left open, so that the model goes on writing it. A marker is put behind
 * its content before the template runs; afterwards the text is cut there. Follows `apply_chat_template` of transformers
 * (`utils/chat_template_utils.py`).
 */
import {ValidationError} from '../errors.ts';
import {strip, stripEnd} from '../util/python-text.ts';
import type {ConversationMessage} from './normalize-messages.ts';

/** The trailing space shows afterwards whether the template trims what it prints. */
const marker = 'CONTINUE_FINAL_MESSAGE_TAG ';

export interface OpenConversation {
  /** With the marker, for the template. */
  messages: ConversationMessage[];
  /**
   * The text up to and including the content of the last message.
   * @throws ValidationError when the template dropped it
   */
  cut(rendered: string): string;
}

/**
 * @param conversation at least one message
 * @param template its source
 * @throws ValidationError when there is nothing to continue
 */
export function openFinalMessage(conversation: readonly ConversationMessage[], template: string): OpenConversation {
  const finalMessage = conversation.at(-1)!;
  const finalText = textToContinue(finalMessage);
  if (!template.includes('content')) {
    throw new ValidationError(
      'continue_final_message is set to "content" but this is not an accepted field in the chat_template',
    );
  }
  return {
    messages: [...conversation.slice(0, -1), withMarker(finalMessage)],
    cut: (rendered) => cutAtMarker(rendered, finalText),
  };
}

/** The same in one call, where the template runs at once. */
export function renderOpenConversation(
  conversation: readonly ConversationMessage[],
  template: string,
  render: (conversation: readonly ConversationMessage[]) => string,
): string {
  const {messages, cut} = openFinalMessage(conversation, template);
  return cut(render(messages));
}

function textToContinue({content}: ConversationMessage): string {
  if (typeof content === 'string') return content;
  const text = content.findLast((part) => 'text' in part)?.text;
  if (text !== undefined) return String(text);
  throw new ValidationError(
    'continue_final_message is set but we could not find any text to continue in the final message!',
  );
}

function withMarker(message: ConversationMessage): ConversationMessage {
  const {content} = message;
  if (typeof content === 'string') return {...message, content: content + marker};
  const index = content.findLastIndex((part) => 'text' in part);
  const part = content[index]!;
  return {...message, content: content.with(index, {...part, text: String(part.text) + marker})};
}

function cutAtMarker(rendered: string, finalText: string): string {
  const position = rendered.lastIndexOf(strip(marker));
  if (position < 0 || !rendered.includes(strip(finalText))) {
    throw new ValidationError(
      'continue_final_message is set but the final message does not appear in the chat after applying the chat ' +
        'template! This can happen if the chat template deletes portions of the final message. Please verify the chat ' +
        'template and final message in your chat to ensure they are compatible.' +
        `Final message to continue: ${strip(finalText)}\nRendered chat:\n${rendered}`,
    );
  }
  const isTrimmed = !rendered.startsWith(marker, position);
  const text = rendered.slice(0, position);
  return isTrimmed ? stripEnd(text) : text;
}
