/**
 * Tries a device with the one operator that everything hangs on: attention over a prompt, against what the CPU says. Drivers
 * differ in what their kernels assume (one for long prompts needs wide groups of threads, and gives wrong numbers without
 * them), and whether half precision works is seen only by using it.
 */
import {microsoftDomain, OnnxGraph} from '../builder/onnx-graph.ts';
import {dataTypes, encodeOnnxModel} from '../builder/onnx-proto.ts';
import type {KvType} from '../kv-memory.ts';
import type {OrtEnvironment} from '../ort/ort-environment.ts';
import {type OrtProvider, OrtSession} from '../ort/ort-session.ts';
import {elementBytes, OrtTensor} from '../ort/ort-tensor.ts';

const numHeads = 2;
const headSize = 64;
/** One head of keys and one of values behind the heads of queries. */
const packedSize = (numHeads + 2) * headSize;
const longPrompt = 64;
/** Kernels for long prompts begin at 32 tokens. */
const shortPrompt = 31;
/** Largest difference that rounding explains; results are below 1, wrong ones differ by tenths. */
const tolerances: Readonly<Record<KvType, number>> = {float32: 1e-3, float16: 2e-2};
const opsets = {'': 21, [microsoftDomain]: 1};

/**
 * @returns the longest part of a prompt that the device computes rightly in one run, Infinity for no limit; 0 = none
 * @throws GenerationError when the device cannot run the operator at all
 */
export async function longestRightChunk(
  environment: OrtEnvironment,
  provider: OrtProvider,
  type: KvType,
): Promise<number> {
  for (const [numTokens, limit] of [
    [longPrompt, Number.POSITIVE_INFINITY],
    [shortPrompt, shortPrompt],
  ] as const) {
    const expected = await attend(environment, null, 'float32', numTokens);
    const actual = await attend(environment, provider, type, numTokens);
    if (largestDifference(actual, expected) < tolerances[type]) return limit;
  }
  return 0;
}

async function attend(
  environment: OrtEnvironment,
  provider: OrtProvider | null,
  type: KvType,
  numTokens: number,
): Promise<Float32Array> {
  const result = new Float32Array(numTokens * numHeads * headSize);
  const tensors = [
    OrtTensor.over(environment, examplePrompt(numTokens), [1, numTokens, packedSize]),
    OrtTensor.over(environment, Int32Array.of(numTokens - 1), [1]),
    OrtTensor.over(environment, Int32Array.of(numTokens), [1]),
    OrtTensor.over(environment, result, [1, numTokens, numHeads * headSize]),
  ];
  const session = new OrtSession(environment, attentionGraph(type), {numThreads: 1, provider, isQuiet: true});
  try {
    await session.run(tensors.slice(0, 3), tensors.slice(3));
  } finally {
    for (const tensor of tensors) tensor.release();
    session.close();
  }
  return result;
}

/** Numbers without a pattern that a wrong kernel could hit by chance. */
function examplePrompt(numTokens: number): Float32Array {
  return Float32Array.from({length: numTokens * packedSize}, (_, index) => Math.sin(index * index * 0.37 + index));
}

function attentionGraph(type: KvType): Uint8Array {
  const graph = new OnnxGraph();
  graph.input('prompt', 'float32', [1, 'sequence', packedSize]);
  graph.input('seqlens_k', 'int32', [1]);
  graph.input('total_sequence_length', 'int32', [1]);
  const packed = graph.node('Cast', 'packed', ['prompt'], {to: dataTypes[type]});
  for (const name of ['past.key', 'past.value']) {
    const data = new Uint8Array(longPrompt * headSize * elementBytes[type]);
    graph.constants.push({name, type, dims: [1, 1, longPrompt, headSize], data});
  }
  graph.nodeWithResults(
    'GroupQueryAttention',
    ['mixed', 'present.key', 'present.value'],
    [packed, '', '', 'past.key', 'past.value', 'seqlens_k', 'total_sequence_length'],
    {num_heads: numHeads, kv_num_heads: 1, do_rotary: 0},
    microsoftDomain,
  );
  graph.node('Cast', 'result', ['mixed'], {to: dataTypes.float32});
  graph.output('result', 'float32', [1, 'sequence', numHeads * headSize]);
  const {nodes, inputs, outputs, constants} = graph;
  return encodeOnnxModel({name: 'attention', nodes, inputs, outputs, initializers: constants, opsets});
}

function largestDifference(actual: Float32Array, expected: Float32Array): number {
  return actual.reduce((largest, value, index) => {
    const difference = Math.abs(value - (expected[index] as number));
    return difference > largest || Number.isNaN(difference) ? difference : largest;
  }, 0);
}
