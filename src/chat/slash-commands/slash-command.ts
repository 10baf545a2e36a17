/** What a slash command is: a row of the table that help lists and Tab completes. */
import type {ChatController} from '../chat-controller.ts';

export interface SlashCommand {
  names: readonly [string, ...string[]];
  /** What follows the name, as help shows it. */
  form: string;
  description: string;
  run(chat: ChatController, argument: string): Promise<void> | void;
}
