/** From the options of the command to what answers. */
import type {ChatRunOptions, ChatTerminal} from '../chat-terminal.ts';
import type {ChatBackend, LoadProgressNote} from './backend.ts';

/** A model in this machine unless an address is given. @throws UsageError */
export async function openBackend(
  options: ChatRunOptions,
  terminal: Pick<ChatTerminal, 'logger'>,
  onProgress: (progress: LoadProgressNote) => void,
): Promise<ChatBackend> {
  const {model, url, modelName, apiKey} = options;
  if (url !== null && model === null) {
    const {HttpBackend} = await import('./http-backend.ts');
    return new HttpBackend({url, modelName, apiKey});
  }
  const {openLocalBackend} = await import('./local-backend.ts');
  return openLocalBackend(model, options, {logger: terminal.logger, onProgress});
}
