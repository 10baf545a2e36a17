/** What a command gives to the Hub: a logger, a signal, and progress as one line for each file. */
import type {Logger} from '../util/logger.ts';
import {sizeText} from './hub/choose-files.ts';
import type {HubContext, HubProgress} from './hub/hub-model.ts';

export interface FileProgress {
  /** Path of the file in the repository. */
  item: string;
  /** 0..1 */
  fraction: number;
  detail: string;
}

export function hubContext(
  {logger, signal}: {logger: Logger; signal: AbortSignal},
  onProgress: (progress: FileProgress) => void,
): HubContext {
  return {logger, signal, onProgress: (progress) => onProgress(toFileProgress(progress))};
}

function toFileProgress({path, numBytes, totalBytes, rate}: HubProgress): FileProgress {
  const done = numBytes === totalBytes ? sizeText(totalBytes) : `${sizeText(numBytes)} of ${sizeText(totalBytes)}`;
  const detail = `${path} ${done}${rate > 0 ? `, ${sizeText(rate)}/s` : ''}`;
  return {item: path, fraction: totalBytes === 0 ? 1 : numBytes / totalBytes, detail};
}
