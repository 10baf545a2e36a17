/**
 * llama.cpp without a server: node-llama-cpp's sequences, advanced together so that each forward pass holds one token
 * of every stream. Left to themselves, one stream would often miss the batch.
 */
import {type LlamaModel, type LlamaSequence, loadLlamaModel, openSequences} from '../llama/llama-api.ts';
import type {BareLoop, LoopSettings} from './loop-protocol.ts';
import {serveLoop} from './serve-loop.ts';

async function openLoop(settings: LoopSettings): Promise<BareLoop> {
  const sequencesFor = contextsByStreams(await loadLlamaModel(settings), settings);
  return {
    async run({prompts, numTokens}, onToken) {
      const sequences = await sequencesFor(prompts.length);
      const streams = sequences.map((sequence, index) =>
        sequence.evaluate(prompts[index], {temperature: 0, yieldEogToken: true}),
      );
      for (let step = 0; step < numTokens; step++) {
        await Promise.all(streams.map((stream, index) => stream.next().then(() => onToken(index))));
      }
      await Promise.all(streams.map((stream) => stream.return()));
      await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
    },
  };
}

/** A context with exactly as many sequences as are used does no work for others. Each is opened once. */
function contextsByStreams(model: LlamaModel, {contextTokens, threads}: LoopSettings) {
  const opened = new Map<number, Promise<LlamaSequence[]>>();
  return (sequences: number): Promise<LlamaSequence[]> => {
    const known = opened.get(sequences);
    if (known) return known;
    const fresh = openSequences(model, {sequences, contextSize: contextTokens, threads});
    opened.set(sequences, fresh);
    return fresh;
  };
}

await serveLoop(openLoop);
