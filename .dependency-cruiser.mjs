/**
 * Who may import whom: conventions of the tree as rules. Layers first (a folder lists what it may see), then the owner
 * of each heavy package, then cycles. `test/unit/repository/import-rules.test.ts` proves that each kind of rule bites.
 */

const leaves = ['core/errors', 'core/protocol', 'core/config', 'core/model', 'core/util', 'core/metrics'];

/** Folder or file below src -> what it may import below src, besides itself. `*` = everything in core. */
const layers = {
  'commands': ['cli', 'models', 'server', 'chat', 'bench', 'render-template', 'parse-output', 'core'],
  'cli': ['core/errors', 'core/config', 'core/util', 'core/engine/protocol', 'core/llm'],
  'server': ['core/llm', 'core/protocol', 'core/errors', 'core/config', 'core/metrics', 'core/util', 'core/engine/protocol', 'core/parsers/events', 'core/parsers/parsed-piece', 'core/sampling'],
  'chat': ['core/llm', 'core/usual-load-options', 'core/protocol', 'core/errors', 'core/config', 'core/metrics', 'core/util', 'core/parsers/events'],
  // The tokenizer of a local model makes prompts of an exact length without asking a server.
  'bench': ['core/protocol', 'core/util', 'core/errors', 'core/model'],
  'models': ['core/parsers', 'core/renderer', 'core/model', 'core/config', 'core/errors', 'core/util'],
  'parse-output': ['core/load-answer-formats', 'core/parsers', 'core/errors', 'core/util'],
  'render-template': ['core/parsers', 'core/renderer', 'core/model', 'core/protocol', 'core/errors', 'core/util'],
  'core/output': ['core/sampling', 'core/engine/protocol', ...leaves],
  'core/renderer': ['core/sampling', ...leaves],
  'core/parsers': ['core/sampling', ...leaves],
  'core/structured-output': ['core/sampling', ...leaves],
  // Masks of tokens are applied where tokens are picked.
  'core/engine': ['core/sampling', 'core/structured-output', ...leaves],
  'core/sampling': leaves,
  'core/errors': [],
  'core/util': ['core/errors'],
  'core/protocol': ['core/errors', 'core/util'],
  'core/metrics': ['core/errors', 'core/util', 'core/protocol'],
  'core/model': ['core/errors', 'core/util', 'core/config'],
  'core/config': ['core/errors', 'core/util', 'core/model', 'core/protocol'],
};

/** Package -> the only places below src that may import it. */
const owners = {
  'koffi': ['core/engine/model-runner/'],
  'onnxruntime-node': ['core/engine/model-runner/'],
  'protobufjs': ['core/engine/model-runner/'],
  'tokenizers': ['core/model/tokenizer'],
  'fastify': ['server/'],
  'ink': ['chat/'],
  'react': ['chat/'],
  'marked': ['chat/'],
  'highlight.js': ['chat/'],
  'eventsource-parser': ['chat/'],
  '@modelcontextprotocol/client': ['chat/'],
  '@oclif/core': ['commands/', 'cli/'],
  'pino': ['cli/'],
  'pino-pretty': ['cli/'],
  'yaml': ['cli/'],
  'autocannon': ['bench/'],
  'undici': ['bench/', 'chat/', 'core/model/hub/', 'core/engine/client/vllm/'],
  '@huggingface/hub': ['core/model/hub/'],
  'cli-progress': ['bench/', 'cli/'],
  'prom-client': ['core/metrics/'],
};

/** A path below src as a pattern: the folder, or the file with its extension. */
const below = (name) => `^src/${name.replaceAll('.', '\\.')}(/|\\.tsx?$)`;

const layerRules = Object.entries(layers).map(([name, allowed]) => ({
  name: `layer-${name.replaceAll('/', '-')}`,
  comment: `${name} may import only: ${allowed.join(', ') || 'nothing else of ours'}`,
  severity: 'error',
  from: {path: below(name)},
  to: {path: '^src/', pathNot: [name, ...allowed].map(below)},
}));

const ownerRules = Object.entries(owners).map(([name, places]) => ({
  name: `owner-${name.replaceAll('/', '-')}`,
  comment: `${name} may be imported only in ${places.join(', ')}`,
  severity: 'error',
  from: {path: '^src/', pathNot: places.map((place) => `^src/${place}`)},
  to: {path: `node_modules/${name}(/|$)`},
}));

export default {
  forbidden: [
    ...layerRules,
    ...ownerRules,
    {
      name: 'no-cycles',
      comment: 'Modules that need each other are one module, or one of them is in the wrong place',
      severity: 'error',
      from: {},
      to: {circular: true},
    },
    {
      name: 'no-dev-packages',
      comment: 'Packages of devDependencies are not there when the command line runs',
      severity: 'error',
      from: {path: '^src/'},
      // The screen's packages are part of the bundle, so that their many files are not installed.
      to: {dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/(ink|react|@types/react|string-width|highlight.js)/'},
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere',
      severity: 'error',
      from: {},
      to: {couldNotResolve: true},
    },
    {
      name: 'no-import-of-commands',
      comment: 'Only oclif loads commands',
      severity: 'error',
      from: {pathNot: '^src/commands/'},
      to: {path: '^src/commands/'},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: {fileName: 'tsconfig.json'},
    doNotFollow: {path: 'node_modules'},
    enhancedResolveOptions: {exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'], extensions: ['.ts', '.tsx', '.js', '.json']},
  },
};
