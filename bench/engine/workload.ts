/** How much is measured: the full run, whose figures count, and a quick one that shows that everything works. */

export interface Workload {
  rounds: number;
  prefillLengths: readonly number[];
  prefillRepeats: number;
  /** Numbers of streams at the same time. The last one is also the burst that is compared with the server. */
  streams: readonly number[];
  decodePromptTokens: number;
  decodeTokens: number;
  httpPromptTokens: number;
  httpOutputTokens: number;
  /** Bursts of each number of streams; the result is their median. */
  httpRepeats: Readonly<Record<number, number>>;
  chatPromptTokens: number;
  chatAnswerTokens: number;
  chatRepeats: number;
  pauseStreams: number;
  pauseOutputTokens: number;
}

export const fullWorkload: Workload = {
  rounds: 3,
  prefillLengths: [128, 512],
  prefillRepeats: 3,
  streams: [1, 4, 16],
  decodePromptTokens: 128,
  decodeTokens: 64,
  httpPromptTokens: 150,
  httpOutputTokens: 64,
  httpRepeats: {1: 3, 4: 2, 16: 1},
  chatPromptTokens: 1000,
  chatAnswerTokens: 16,
  chatRepeats: 2,
  pauseStreams: 8,
  pauseOutputTokens: 96,
};

export const quickWorkload: Workload = {
  ...fullWorkload,
  rounds: 1,
  prefillLengths: [64],
  prefillRepeats: 2,
  streams: [1, 4],
  decodePromptTokens: 32,
  decodeTokens: 16,
  httpPromptTokens: 80,
  httpOutputTokens: 16,
  httpRepeats: {1: 2, 4: 1},
  chatPromptTokens: 300,
  chatRepeats: 1,
  pauseStreams: 3,
  pauseOutputTokens: 48,
};

export function mostStreams(workload: Workload): number {
  return Math.max(...workload.streams);
}
