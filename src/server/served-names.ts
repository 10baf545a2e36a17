/** The names under which a server offers its model: given ones, those of the servers that run it, else the model itself. */
import type {ModelInfo} from '../core/engine/protocol.ts';
import type {ServerOptions} from './server-config.ts';

/** At least one; the first one stands in answers. */
export function servedNames({servedModelName}: ServerOptions, {servedNames}: ModelInfo, modelRoot: string): string[] {
  if (servedModelName.length > 0) return servedModelName;
  return servedNames ?? [modelRoot];
}
