/** What a stream of an endpoint carries besides its text, from the request and the server's options. */
import type {ServerOptions} from '../server-config.ts';
import type {UsageFormat} from './usage.ts';

/** Which token counts a stream carries. */
export interface StreamUsage extends UsageFormat {
  /** A chunk with the sums at the end. */
  atEnd: boolean;
  /** The counts of the choice in each chunk. */
  inEachChunk: boolean;
}

export interface StreamOptions {
  usage: StreamUsage;
  /** Least tokens of a chunk between the first and the last. */
  interval: number;
}

interface StreamFields {
  stream_options: {include_usage: boolean; continuous_usage_stats: boolean} | null;
  stream_interval: number | null;
}

export function streamOptions({stream_options, stream_interval}: StreamFields, options: ServerOptions): StreamOptions {
  const isForced = options.enableForceIncludeUsage;
  const atEnd = isForced || (stream_options?.include_usage ?? false);
  return {
    interval: Math.max(stream_interval ?? 1, options.streamInterval),
    usage: {
      atEnd,
      inEachChunk: isForced || (atEnd && (stream_options?.continuous_usage_stats ?? false)),
      withPromptDetails: options.enablePromptTokensDetails,
    },
  };
}
