/**
 * A graph while it is built: nodes are added in order and give the names of their results; large weights are promised
 * as functions, so that they are read, converted and written one at a time.
 */
import {toHalves} from '../../../model/gguf/half.ts';
import {assertInvariant} from '../../../util/assert.ts';
import type {KvType} from '../kv-memory.ts';
import type {AttributeValue, DataType, OnnxInitializer, OnnxNode, OnnxValue} from './onnx-proto.ts';

/** A weight that lies in the weight file; its bytes are made when they are written. */
export interface ExternalWeight {
  name: string;
  type: DataType;
  dims: readonly number[];
  /** Weights of the same content share one region of the file. */
  content: string;
  makeData: () => Promise<ArrayBufferView>;
}

/** Name of a value in the graph. */
export type Value = string;

type Attributes = Record<string, AttributeValue>;

export const microsoftDomain = 'com.microsoft';

export class OnnxGraph {
  readonly nodes: OnnxNode[] = [];
  readonly inputs: OnnxValue[] = [];
  readonly outputs: OnnxValue[] = [];
  readonly constants: OnnxInitializer[] = [];
  readonly weights: ExternalWeight[] = [];
  /** Of all weights and constants that are declared as floats. */
  readonly floatType: KvType;
  readonly #names = new Set<string>();

  constructor(floatType: KvType = 'float32') {
    this.floatType = floatType;
  }

  input(name: string, type: DataType, dims: readonly (number | string)[]): Value {
    this.inputs.push({name: this.#claim(name), type, dims});
    return name;
  }

  /** Declares a result of the graph; a node must produce that name. */
  output(name: string, type: DataType, dims: readonly (number | string)[]): void {
    this.outputs.push({name, type, dims});
  }

  /** A small constant, kept in the graph itself. Asking for the same name again gives the same constant. */
  int64Constant(name: string, values: readonly number[]): Value {
    if (!this.#names.has(name)) {
      const data = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
      this.constants.push({name: this.#claim(name), type: 'int64', dims: [values.length], data});
    }
    return name;
  }

  /** One number as a constant of the graph. Asking for the same name again gives the same constant. */
  floatConstant(name: string, value: number): Value {
    if (!this.#names.has(name)) {
      const floats = Float32Array.of(value);
      const data = new Uint8Array((this.floatType === 'float16' ? toHalves(floats) : floats).buffer);
      this.constants.push({name: this.#claim(name), type: this.floatType, dims: [], data});
    }
    return name;
  }

  /** A large constant of floats. @param content what they are; weights of the same content share one region of the file */
  floats(name: string, dims: readonly number[], makeData: () => Promise<Float32Array>, content = name): Value {
    if (this.floatType === 'float32') return this.weight(name, 'float32', dims, makeData, content);
    return this.weight(name, 'float16', dims, async () => toHalves(await makeData()), content);
  }

  /** A large constant. @param content what the bytes are; weights of the same content share one region of the file */
  weight(
    name: string,
    type: DataType,
    dims: readonly number[],
    makeData: () => Promise<ArrayBufferView>,
    content: string = name,
  ): Value {
    this.weights.push({name: this.#claim(name), type, dims, content, makeData});
    return name;
  }

  /** Adds a node with one result. */
  node(operator: string, result: Value, inputs: readonly Value[], attributes: Attributes = {}, domain = ''): Value {
    return this.nodeWithResults(operator, [result], inputs, attributes, domain)[0] as Value;
  }

  /** Adds a node with several results; an empty name drops one. */
  nodeWithResults(
    operator: string,
    results: readonly Value[],
    inputs: readonly Value[],
    attributes: Attributes = {},
    domain = '',
  ): readonly Value[] {
    const outputs = results.map((name) => (name === '' ? '' : this.#claim(name)));
    this.nodes.push({operator, domain, inputs, outputs, attributes});
    return outputs;
  }

  #claim(name: string): string {
    assertInvariant(!this.#names.has(name), `every value of the graph has one definition (${name})`);
    this.#names.add(name);
    return name;
  }
}
