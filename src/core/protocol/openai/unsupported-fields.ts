/**
 * Fields of the contract that this server knows and cannot serve yet. A request that uses one in a way that would
 * change its answer is refused with the name of the field; nothing is dropped in silence. The table shrinks as the
 * features come.
 */
import {UnsupportedError} from '../../errors.ts';
import {constraintFault} from './constraint-check.ts';
import type {SamplingRequest} from './sampling-request.ts';

interface UnsupportedUse {
  param: string;
  /** True when the field would change the answer. */
  isUsed: (request: SamplingRequest) => boolean;
}

/** A constraint with a fault gets the text about the fault, later. */
const isFaultless = (request: SamplingRequest) => constraintFault(request) === null;

const UNSUPPORTED_USES: UnsupportedUse[] = [
  {
    param: 'response_format',
    isUsed: (request) =>
      request.response_format !== null && request.response_format.type !== 'text' && isFaultless(request),
  },
  {param: 'structured_outputs', isUsed: (request) => request.structured_outputs !== null && isFaultless(request)},
  {param: 'use_beam_search', isUsed: ({use_beam_search}) => use_beam_search},
];

/** @throws UnsupportedError for the first field that is used and not served */
export function refuseUnsupportedFields(request: SamplingRequest): void {
  const use = UNSUPPORTED_USES.find(({isUsed}) => isUsed(request));
  if (!use) return;
  throw new UnsupportedError(`\`${use.param}\` is not supported by this server yet.`, {
    param: use.param,
    showsParameter: false,
  });
}
