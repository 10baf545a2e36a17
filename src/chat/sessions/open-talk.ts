/** Where a talk begins: new, or where a stored one ended; with the settings of the command line on top. */
import {readTextFile} from '../attach-files.ts';
import type {ChatRunOptions} from '../chat-terminal.ts';
import type {TalkMessage} from '../conversation/messages.ts';
import {settingsFromOptions, type TalkSettings} from '../conversation/settings.ts';
import {checkSessionName, newSessionId, SessionStore, SessionWriter, type StoredSession} from './session-store.ts';

export interface TalkStart {
  talk: TalkMessage[];
  settings: TalkSettings;
  store: SessionStore;
  /** Null when nothing is to be kept. */
  writer: SessionWriter | null;
  isResumed: boolean;
  /** That answered before; null for a new talk. */
  earlierModel: string | null;
}

/** @throws UsageError */
export async function openTalk(options: ChatRunOptions): Promise<TalkStart> {
  const store = new SessionStore();
  const resumed = await findSession(options, store);
  const systemPrompt = options.systemFile === null ? options.systemPrompt : await readTextFile(options.systemFile);
  const given = settingsFromOptions(options, systemPrompt);
  const isQuick = options.quick !== null || options.json;
  const keeps = options.save && (!isQuick || resumed !== null || options.session !== null);
  return {
    talk: resumed?.messages ?? [],
    settings: resumed?.settings ? mergeSettings(resumed.settings, given) : given,
    store,
    writer: keeps ? new SessionWriter(store, options.session ?? newSessionId(), resumed) : null,
    isResumed: resumed !== null,
    earlierModel: resumed?.model || null,
  };
}

/** What the command line says wins over what was stored. */
function mergeSettings(stored: TalkSettings, given: TalkSettings): TalkSettings {
  return {
    systemPrompt: given.systemPrompt ?? stored.systemPrompt,
    fields: {...stored.fields, ...given.fields},
    templateKwargs: {...stored.templateKwargs, ...given.templateKwargs},
    keepReasoning: stored.keepReasoning,
  };
}

/** A session that is named and there already goes on. */
async function findSession(options: ChatRunOptions, store: SessionStore): Promise<StoredSession | null> {
  if (options.resume !== null) return store.read(options.resume);
  if (options.continue) return store.newest();
  if (options.session === null) return null;
  checkSessionName(options.session);
  const entries = await store.list();
  return entries.some(({id}) => id === options.session) ? store.read(options.session) : null;
}
