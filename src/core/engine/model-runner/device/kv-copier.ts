/**
 * Copies keys and values of tokens from one buffer of the cache to another, or inside one, on the device. A tiny graph does
 * it: the vectors to copy are gathered, then scattered over the target, which is input and output of the same run. All is
 * gathered before anything is written, so vectors can also be exchanged.
 */
import {OnnxGraph} from '../builder/onnx-graph.ts';
import {type DataType, encodeOnnxModel} from '../builder/onnx-proto.ts';
import type {OrtEnvironment} from '../ort/ort-environment.ts';
import {type OrtProvider, OrtSession} from '../ort/ort-session.ts';
import {OrtTensor} from '../ort/ort-tensor.ts';

/** Places of vectors: the n-th of `from` goes to the n-th of `to`. */
export interface VectorMoves {
  from: BigInt64Array;
  to: BigInt64Array;
}

const operatorSets = {'': 21};

export class KvCopier {
  readonly #environment: OrtEnvironment;
  readonly #session: OrtSession;

  /** @param numBuffers buffers that are copied together, each a list of vectors of `headSize` numbers */
  constructor(
    environment: OrtEnvironment,
    provider: OrtProvider,
    {numBuffers, headSize, type}: {numBuffers: number; headSize: number; type: DataType},
  ) {
    this.#environment = environment;
    this.#session = new OrtSession(environment, copyGraph(numBuffers, headSize, type), {numThreads: 1, provider});
  }

  /** @param sources,targets `[vectors, headSize]` on the device, one for each buffer; may be the same */
  async copy(sources: readonly OrtTensor[], targets: readonly OrtTensor[], {from, to}: VectorMoves): Promise<void> {
    const places = [
      OrtTensor.over(this.#environment, from, [from.length]),
      OrtTensor.over(this.#environment, to, [to.length, 1]),
    ];
    const buffers = sources.flatMap((source, index) => [source, targets[index] as OrtTensor]);
    try {
      await this.#session.run([...places, ...buffers], targets);
    } finally {
      for (const tensor of places) tensor.release();
    }
  }

  close(): void {
    this.#session.close();
  }
}

function copyGraph(numBuffers: number, headSize: number, type: DataType): Uint8Array {
  const graph = new OnnxGraph();
  graph.input('from', 'int64', ['vectors']);
  graph.input('to', 'int64', ['vectors', 1]);
  for (let buffer = 0; buffer < numBuffers; buffer++) {
    const source = graph.input(`source.${buffer}`, type, ['sources', headSize]);
    const target = graph.input(`target.${buffer}`, type, ['targets', headSize]);
    const moved = graph.node('Gather', `moved.${buffer}`, [source, 'from'], {axis: 0});
    const result = graph.node('ScatterND', `copied.${buffer}`, [target, 'to', moved]);
    graph.output(result, type, ['targets', headSize]);
  }
  const {nodes, inputs, outputs} = graph;
  return encodeOnnxModel({name: 'copy', nodes, inputs, outputs, initializers: [], opsets: operatorSets});
}
