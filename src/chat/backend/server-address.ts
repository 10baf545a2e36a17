/** The address of a server as people write it: with and without scheme and `/v1`. */
import {UsageError} from '../../core/errors.ts';

/** `http://host` and `http://host/v1` are the same server; a version that stands there stays. @throws UsageError */
export function withVersion(address: string): string {
  const trimmed = (/^https?:\/\//.test(address) ? address : `http://${address}`).replace(/\/+$/, '');
  if (!URL.canParse(trimmed))
    throw new UsageError(`--url: ${address} is no address`, {hint: 'e.g. http://127.0.0.1:8000/v1'});
  return /\/v\d+[a-z]*$/.test(trimmed) ? trimmed : `${trimmed}/v1`;
}
