/** What routes and plugins of one server share. Made once, in `buildApp`. */
import type {Llm} from '../core/llm.ts';
import type {Logger} from '../core/util/logger.ts';
import type {ActiveRequests} from './active-requests.ts';
import type {Rejections} from './rejections.ts';
import type {RequestLog} from './request-log.ts';
import type {ServerOptions} from './server-config.ts';

export interface ServerContext {
  llm: Llm;
  options: ServerOptions;
  logger: Logger;
  activeRequests: ActiveRequests;
  /** Names of the model in requests; the first one stands in answers. At least one. */
  servedModelNames: string[];
  /** The model argument as the user gave it. */
  modelRoot: string;
  /** Version of this program. */
  version: string;
  systemFingerprint: string | null;
  /** True from the stop signal on: new requests are refused. */
  isStopping: () => boolean;
  /** Logs a request and watches its answer, when that is asked for. */
  logRequest: RequestLog;
  rejections: Rejections;
}
