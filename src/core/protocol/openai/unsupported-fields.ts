/**
 * Fields of the contract that this server knows and cannot serve yet. A request that uses one in a way that would
 * change its answer is refused with the name of the field; nothing is dropped in silence. The table shrinks as the
 * features come.
 */
import {UnsupportedError} from '../../errors.ts';
import type {SamplingRequest} from './sampling-request.ts';

interface UnsupportedUse {
  param: string;
  /** True when the field would change the answer. */
  isUsed: (request: SamplingRequest) => boolean;
}

const UNSUPPORTED_USES: UnsupportedUse[] = [{param: 'use_beam_search', isUsed: ({use_beam_search}) => use_beam_search}];

/** @throws UnsupportedError for the first field that is used and not served */
export function refuseUnsupportedFields(request: SamplingRequest): void {
  const use = UNSUPPORTED_USES.find(({isUsed}) => isUsed(request));
  if (!use) return;
  throw new UnsupportedError(`\`${use.param}\` is not supported by this server yet.`, {
    param: use.param,
    showsParameter: false,
  });
}
