/**
 * The part of the ONNX file format that the model builder writes, as a protobuf schema, and its encoder. Field numbers
 * are those of the public `onnx.proto`. Weights are not in the message: they lie in a file beside it.
 */
import protobuf from 'protobufjs';

/** Numbers of `TensorProto.DataType`. */
export const dataTypes = {float32: 1, uint8: 2, int32: 6, int64: 7, float16: 10} as const;
export type DataType = keyof typeof dataTypes;

/** Numbers of `AttributeProto.AttributeType`. */
const attributeTypes = {float: 1, int: 2, text: 3, ints: 7} as const;

/** `TensorProto.DataLocation.EXTERNAL` */
const externalLocation = 1;

const repeated = 'repeated';

const schema = protobuf.Root.fromJSON({
  nested: {
    ModelProto: {
      fields: {
        irVersion: {id: 1, type: 'int64'},
        producerName: {id: 2, type: 'string'},
        graph: {id: 7, type: 'GraphProto'},
        opsetImport: {id: 8, type: 'OperatorSetIdProto', rule: repeated},
      },
    },
    OperatorSetIdProto: {fields: {domain: {id: 1, type: 'string'}, version: {id: 2, type: 'int64'}}},
    GraphProto: {
      fields: {
        node: {id: 1, type: 'NodeProto', rule: repeated},
        name: {id: 2, type: 'string'},
        initializer: {id: 5, type: 'TensorProto', rule: repeated},
        input: {id: 11, type: 'ValueInfoProto', rule: repeated},
        output: {id: 12, type: 'ValueInfoProto', rule: repeated},
      },
    },
    NodeProto: {
      fields: {
        input: {id: 1, type: 'string', rule: repeated},
        output: {id: 2, type: 'string', rule: repeated},
        name: {id: 3, type: 'string'},
        opType: {id: 4, type: 'string'},
        attribute: {id: 5, type: 'AttributeProto', rule: repeated},
        domain: {id: 7, type: 'string'},
      },
    },
    AttributeProto: {
      fields: {
        name: {id: 1, type: 'string'},
        f: {id: 2, type: 'float'},
        s: {id: 4, type: 'bytes'},
        i: {id: 3, type: 'int64'},
        ints: {id: 8, type: 'int64', rule: repeated},
        type: {id: 20, type: 'int32'},
      },
    },
    TensorProto: {
      fields: {
        dims: {id: 1, type: 'int64', rule: repeated},
        dataType: {id: 2, type: 'int32'},
        name: {id: 8, type: 'string'},
        rawData: {id: 9, type: 'bytes'},
        externalData: {id: 13, type: 'StringStringEntryProto', rule: repeated},
        dataLocation: {id: 14, type: 'int32'},
      },
    },
    StringStringEntryProto: {fields: {key: {id: 1, type: 'string'}, value: {id: 2, type: 'string'}}},
    ValueInfoProto: {fields: {name: {id: 1, type: 'string'}, type: {id: 2, type: 'TypeProto'}}},
    TypeProto: {fields: {tensorType: {id: 1, type: 'TensorTypeProto'}}},
    TensorTypeProto: {fields: {elemType: {id: 1, type: 'int32'}, shape: {id: 2, type: 'TensorShapeProto'}}},
    TensorShapeProto: {fields: {dim: {id: 1, type: 'DimensionProto', rule: repeated}}},
    DimensionProto: {fields: {dimValue: {id: 1, type: 'int64'}, dimParam: {id: 2, type: 'string'}}},
  },
});

/** An attribute of a node; a whole number is an integer unless it is wrapped in `floatAttribute`. */
export type AttributeValue = number | readonly number[] | {float: number} | {text: string};

export interface OnnxNode {
  operator: string;
  domain: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Readonly<Record<string, AttributeValue>>;
}

/** A dimension is a number or the name of a size that is known at run time. */
export interface OnnxValue {
  name: string;
  type: DataType;
  dims: readonly (number | string)[];
}

/** A constant of the graph: its bytes inside the message, or a region of the weight file. */
export interface OnnxInitializer {
  name: string;
  type: DataType;
  dims: readonly number[];
  data: Uint8Array | {file: string; offset: number; length: number};
}

export interface OnnxModel {
  name: string;
  nodes: readonly OnnxNode[];
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
  initializers: readonly OnnxInitializer[];
  /** Version of each operator set by domain; '' is the standard one. */
  opsets: Readonly<Record<string, number>>;
}

/** Version of the file format itself. */
const irVersion = 10;

/** @returns the bytes of an `.onnx` file */
export function encodeOnnxModel(model: OnnxModel): Uint8Array {
  const message = {
    irVersion,
    producerName: 'parlance',
    opsetImport: Object.entries(model.opsets).map(([domain, version]) => ({domain, version})),
    graph: {
      name: model.name,
      node: model.nodes.map(toNodeProto),
      initializer: model.initializers.map(toTensorProto),
      input: model.inputs.map(toValueInfoProto),
      output: model.outputs.map(toValueInfoProto),
    },
  };
  return schema.lookupType('ModelProto').encode(message).finish();
}

function toNodeProto(node: OnnxNode, index: number) {
  return {
    name: `${node.operator}_${index}`,
    opType: node.operator,
    domain: node.domain,
    input: node.inputs,
    output: node.outputs,
    attribute: Object.entries(node.attributes).map(([name, value]) => ({name, ...toAttributeFields(value)})),
  };
}

function toAttributeFields(value: AttributeValue) {
  if (typeof value === 'number') return {i: value, type: attributeTypes.int};
  if ('text' in value) return {s: Buffer.from(value.text), type: attributeTypes.text};
  if ('float' in value) return {f: value.float, type: attributeTypes.float};
  return {ints: value, type: attributeTypes.ints};
}

function toTensorProto({name, type, dims, data}: OnnxInitializer) {
  const header = {name, dims, dataType: dataTypes[type]};
  if (data instanceof Uint8Array) return {...header, rawData: data};
  const entries = {location: data.file, offset: String(data.offset), length: String(data.length)};
  return {
    ...header,
    dataLocation: externalLocation,
    externalData: Object.entries(entries).map(([key, value]) => ({key, value})),
  };
}

function toValueInfoProto({name, type, dims}: OnnxValue) {
  const dim = dims.map((size) => (typeof size === 'number' ? {dimValue: size} : {dimParam: size}));
  return {name, type: {tensorType: {elemType: dataTypes[type], shape: {dim}}}};
}
