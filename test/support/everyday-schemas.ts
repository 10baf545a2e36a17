/** JSON schemas as tools write them: pydantic, zod, tool definitions, MCP servers, configuration files. By name. */
type Schema = Record<string, unknown>;

const object = (properties: Schema, required: string[] = Object.keys(properties), more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const optionalOf = (schema: Schema, title: string): Schema => ({anyOf: [schema, {type: 'null'}], default: null, title});
const text = {type: 'string'};
const thenKeyword = 'then';

/** `model_json_schema()` of pydantic 2. */
const pydantic: Record<string, Schema> = {
  'pydantic model': object(
    {name: {title: 'Name', type: 'string'}, age: {title: 'Age', type: 'integer', exclusiveMinimum: 0}},
    ['name', 'age'],
    {title: 'User'},
  ),
  'pydantic optional and default': object(
    {nick: optionalOf(text, 'Nick'), active: {default: true, title: 'Active', type: 'boolean'}},
    [],
  ),
  'pydantic nested models': object(
    {address: {$ref: '#/$defs/Address'}, previous: {items: {$ref: '#/$defs/Address'}, type: 'array', maxItems: 2}},
    ['address'],
    {$defs: {Address: object({street: text, zip: {type: 'string', pattern: '^\\d{5}$'}})}},
  ),
  'pydantic recursive tree': {
    $defs: {
      Node: object({value: {type: 'integer'}, children: {type: 'array', items: {$ref: '#/$defs/Node'}}}, ['value']),
    },
    $ref: '#/$defs/Node',
  },
  'pydantic linked list': {
    $defs: {Link: object({next: {anyOf: [{$ref: '#/$defs/Link'}, {type: 'null'}], default: null}}, [])},
    $ref: '#/$defs/Link',
  },
  'pydantic discriminated union': object(
    {
      pet: {
        discriminator: {mapping: {cat: '#/$defs/Cat', dog: '#/$defs/Dog'}, propertyName: 'kind'},
        oneOf: [{$ref: '#/$defs/Cat'}, {$ref: '#/$defs/Dog'}],
      },
    },
    ['pet'],
    {
      $defs: {
        Cat: object({kind: {const: 'cat', type: 'string'}, lives: {type: 'integer', minimum: 1, maximum: 9}}),
        Dog: object({kind: {const: 'dog', type: 'string'}, good: {type: 'boolean'}}),
      },
    },
  ),
  'pydantic enum reference with sibling': object(
    {color: {$ref: '#/$defs/Color', default: 'red', description: 'The colour'}},
    [],
    {$defs: {Color: {enum: ['red', 'green'], title: 'Color', type: 'string'}}},
  ),
  'pydantic allOf reference (v1)': object(
    {color: {title: 'Color', allOf: [{$ref: '#/definitions/Color'}]}},
    ['color'],
    {definitions: {Color: {enum: ['red', 'green']}}},
  ),
  'pydantic literals': object({mode: {enum: ['r', 'w'], type: 'string'}, level: {enum: [1, 2, 3], type: 'integer'}}),
  'pydantic dict of models': object({
    scores: {type: 'object', additionalProperties: {type: 'number', minimum: 0, maximum: 1}},
  }),
  'pydantic dict with literal keys': object({
    scores: {type: 'object', propertyNames: {enum: ['a', 'b']}, additionalProperties: {type: 'integer'}},
  }),
  'pydantic tuple': object({
    point: {type: 'array', prefixItems: [{type: 'number'}, {type: 'number'}], minItems: 2, maxItems: 2},
  }),
  'pydantic set of literals': object({tags: {type: 'array', uniqueItems: true, items: {enum: ['x', 'y', 'z']}}}),
  'pydantic constrained strings': object({
    code: {type: 'string', minLength: 3, maxLength: 6, pattern: '^[A-Z0-9]+$'},
    mail: {type: 'string', format: 'email'},
    link: {type: 'string', format: 'uri', minLength: 1, maxLength: 83},
  }),
  'pydantic times': object({
    at: {type: 'string', format: 'date-time'},
    on: {type: 'string', format: 'date'},
    took: {type: 'string', format: 'duration'},
    id: {type: 'string', format: 'uuid'},
  }),
  'pydantic decimal': object({
    price: {anyOf: [{type: 'number'}, {type: 'string', pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$'}]},
  }),
  'pydantic forbids extras': object({a: text}, ['a'], {additionalProperties: false}),
  'pydantic allows extras': object({a: {type: 'integer'}}, ['a'], {additionalProperties: true}),
  'pydantic multiple of': object({step: {type: 'integer', multipleOf: 5, minimum: 0, maximum: 100}}),
};

/** `zod-to-json-schema` and zod 4's own. */
const zod: Record<string, Schema> = {
  'zod object': object({name: {type: 'string', minLength: 1}, tags: {type: 'array', items: text}}, ['name'], {
    additionalProperties: false,
    $schema: 'http://json-schema.org/draft-07/schema#',
  }),
  'zod nullable': object({a: {type: ['string', 'null']}, b: {anyOf: [object({x: {type: 'number'}}), {type: 'null'}]}}),
  'zod discriminated union': {
    anyOf: [
      object({type: {type: 'string', const: 'text'}, text}, undefined, {additionalProperties: false}),
      object({type: {type: 'string', const: 'image'}, url: {type: 'string', format: 'uri'}}, undefined, {
        additionalProperties: false,
      }),
    ],
  },
  'zod email with its pattern': object({
    mail: {
      type: 'string',
      format: 'email',
      pattern:
        "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    },
  }),
  'zod cuid and ulid': object({
    a: {type: 'string', format: 'cuid', pattern: '^[cC][^\\s-]{8,}$'},
    b: {type: 'string', format: 'ulid', pattern: '^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$'},
  }),
  'zod record': {type: 'object', propertyNames: {type: 'string'}, additionalProperties: {type: 'boolean'}},
  'zod tuple (draft 7)': {
    type: 'array',
    items: [text, {type: 'integer'}],
    additionalItems: {type: 'boolean'},
    minItems: 2,
    maxItems: 4,
  },
  'zod intersection': {allOf: [object({a: text}), object({b: {type: 'integer'}})], unevaluatedProperties: false},
  'zod safe integer': object({n: {type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991}}),
  'zod lazy json': {
    anyOf: [{type: ['string', 'number', 'boolean', 'null']}, {type: 'array', items: {$ref: '#'}, maxItems: 3}],
  },
};

/** Parameters of tools, as OpenAI's documentation and MCP servers state them. */
const tools: Record<string, Schema> = {
  'tool get_weather': object(
    {
      location: {type: 'string', description: 'The city and state, e.g. San Francisco, CA'},
      unit: {type: 'string', enum: ['celsius', 'fahrenheit']},
    },
    ['location'],
  ),
  'tool without parameters': {type: 'object', properties: {}},
  'tool without anything': {type: 'object'},
  'tool strict query': object(
    {
      table: {type: 'string', enum: ['orders', 'customers']},
      conditions: {
        type: 'array',
        items: object(
          {
            column: text,
            operator: {type: 'string', enum: ['=', '>', '<', '!=']},
            value: {
              anyOf: [text, {type: 'number'}, object({column_name: text}, undefined, {additionalProperties: false})],
            },
          },
          undefined,
          {additionalProperties: false},
        ),
      },
    },
    undefined,
    {additionalProperties: false},
  ),
  'tool math steps': object(
    {steps: {type: 'array', items: object({explanation: text, output: text}), minItems: 1}, final_answer: text},
    undefined,
    {additionalProperties: false},
  ),
  'tool user interface': {
    ...object(
      {
        type: {type: 'string', enum: ['div', 'button']},
        label: text,
        children: {type: 'array', items: {$ref: '#'}},
        attributes: {type: 'array', items: object({name: text, value: text}, undefined, {additionalProperties: false})},
      },
      undefined,
      {additionalProperties: false},
    ),
  },
  'mcp read_file': object(
    {path: text, head: {type: 'number', description: 'lines'}, tail: {type: 'number'}},
    ['path'],
    {additionalProperties: false, $schema: 'http://json-schema.org/draft-07/schema#'},
  ),
  'mcp edit_file': object(
    {
      path: text,
      edits: {type: 'array', items: object({oldText: text, newText: text}, undefined, {additionalProperties: false})},
      dryRun: {type: 'boolean', default: false},
    },
    ['path', 'edits'],
  ),
  'mcp search with limits': object(
    {
      query: {type: 'string', minLength: 1, maxLength: 256},
      per_page: {type: 'number', minimum: 1, maximum: 100},
      page: {type: 'number', minimum: 1},
      order: {type: 'string', enum: ['asc', 'desc']},
    },
    ['query'],
  ),
  'mcp environment map': object({command: text, env: {type: 'object', additionalProperties: text}}, ['command']),
};

/** Shapes of configuration files. */
const configuration: Record<string, Schema> = {
  'config package': {
    type: 'object',
    required: ['name', 'version'],
    properties: {
      name: {
        type: 'string',
        maxLength: 214,
        minLength: 1,
        pattern: '^(?:(?:@(?:[a-z0-9-*~][a-z0-9-*._~]*)?/[a-z0-9-._~])|[a-z0-9-~])[a-z0-9-._~]*$',
      },
      version: {type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$'},
      private: {anyOf: [{type: 'boolean'}, {enum: ['false', 'true']}]},
      bin: {type: ['string', 'object'], additionalProperties: text},
    },
    patternProperties: {'^_': {}},
  },
  'config workflow step': {
    type: 'object',
    oneOf: [
      object({uses: text, with: {type: 'object', additionalProperties: {type: ['string', 'number', 'boolean']}}}, [
        'uses',
      ]),
      object({run: text, shell: {enum: ['bash', 'sh']}}, ['run']),
    ],
  },
  'config conditional': {
    ...object({kind: {enum: ['tcp', 'file']}, port: {type: 'integer', minimum: 1, maximum: 65535}, path: text}, [
      'kind',
    ]),
    if: {properties: {kind: {const: 'tcp'}}, required: ['kind']},
    [thenKeyword]: {required: ['port']},
    else: {required: ['path']},
  },
  'config several conditions': {
    ...object({engine: {enum: ['a', 'b', 'c']}, x: {type: 'integer'}, y: {type: 'integer'}, z: {type: 'integer'}}, [
      'engine',
    ]),
    allOf: ['a', 'b', 'c'].map((engine, index) => ({
      if: {properties: {engine: {const: engine}}},
      [thenKeyword]: {required: [['x', 'y', 'z'][index]]},
    })),
  },
  'config dependent keys': {
    ...object({card: {type: 'integer'}, billing: text, name: text}, ['name']),
    dependentRequired: {card: ['billing']},
  },
  'config one of two keys': {
    ...object({ip: {type: 'string', format: 'ipv4'}, host: {type: 'string', format: 'hostname'}}, []),
    anyOf: [{required: ['ip']}, {required: ['host']}],
  },
  'config not both': {...object({a: text, b: text}, []), not: {required: ['a', 'b']}},
  'config at least one': {...object({a: text, b: text, c: text}, []), minProperties: 1},
  'config excluded name': object({user: {type: 'string', not: {enum: ['root', 'admin']}, maxLength: 12}}),
  'config password': object({secret: {type: 'string', pattern: '^(?=.*[A-Z])(?=.*[0-9]).{8,20}$'}}),
  'config price': object({price: {type: 'number', minimum: 0, multipleOf: 0.01}}),
  'config list with a main entry': object({
    roles: {type: 'array', items: {enum: ['main', 'side']}, contains: {const: 'main'}, maxContains: 1, maxItems: 4},
  }),
  'config labels': {
    type: 'object',
    patternProperties: {'^[a-z]{1,8}(/[a-z]{1,8})?$': {type: 'string', maxLength: 10}},
    additionalProperties: false,
    maxProperties: 3,
  },
  'config notes that say nothing': {
    $comment: 'x',
    'x-order': 3,
    type: 'object',
    nullable: true,
    properties: {a: {type: 'string', example: 'b', readOnly: true, deprecated: false, 'x-nullable': false}},
  },
};

export const everydaySchemas: Readonly<Record<string, Schema>> = {...pydantic, ...zod, ...tools, ...configuration};
