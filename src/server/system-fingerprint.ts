/** `system_fingerprint`: what a client can compare to see that answers come from the same kind of server. */
import {createHash} from 'node:crypto';
import type {ServerOptions} from './server-config.ts';

const HASH_CHARACTERS = 8;

function shortHash(facts: object): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, HASH_CHARACTERS);
}

/**
 * `vllm-<version>-<hash of the configuration>`, a text of the operator, or null. Constant for one server. The modes
 * `full` and `hash` differ only in parallelism parts, which this engine does not have.
 * @param facts what the answers depend on: model, engine options
 */
export function systemFingerprint(
  {fingerprintMode, fingerprintValue}: Pick<ServerOptions, 'fingerprintMode' | 'fingerprintValue'>,
  version: string,
  facts: object,
): string | null {
  if (fingerprintMode === 'none') return null;
  if (fingerprintMode === 'custom') return fingerprintValue;
  return `vllm-${version}-${shortHash(facts)}`;
}
