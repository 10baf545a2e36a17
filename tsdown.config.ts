/**
 * The bundle in dist/: one file per command, the help class, the hook for unknown commands, the entries of the engine
 * process and of template processes, and shared chunks. Pure JavaScript packages are bundled because reading hundreds of
 * small files is most of the start-up time; packages with native parts stay outside, and so do oclif, which finds its
 * plugins by their folders, and prom-client, whose OpenTelemetry package gives its modules names that the bundler makes
 * collide.
 */
import {readdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'tsdown';

const commands = readdirSync('src/commands').map((file) => file.replace(/\.tsx?$/, ''));

/** A file of ours that is bundled in place of a package. */
function replacement(name: string): string {
  return fileURLToPath(new URL(`scripts/${name}`, import.meta.url));
}

export default defineConfig({
  entry: {
    ...Object.fromEntries(commands.map((name) => [`commands/${name}`, `src/commands/${name}.ts`])),
    'cli/help': 'src/cli/help.ts',
    'cli/command-not-found': 'src/cli/command-not-found.ts',
    'load-worker': 'src/bench/load/load-worker.ts',
    'engine-process': 'src/core/engine/engine-process.ts',
    'template-process': 'src/core/renderer/template-process/template-process-entry.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  outDir: 'dist',
  clean: true,
  dts: false,
  sourcemap: true,
  fixedExtension: false,
  // React has a quick build and one for development; its developer tools are never there. See the files for the reasons.
  define: {'process.env.NODE_ENV': '"production"'},
  alias: {
    'react-devtools-core': replacement('empty-module.ts'),
    'is-in-ci': replacement('not-in-ci.ts'),
  },
  deps: {
    neverBundle: ['@oclif/core', 'autocannon', 'koffi', 'onnxruntime-node', 'prom-client', 'tokenizers'],
    alwaysBundle: [/.*/],
    onlyBundle: false,
  },
  outputOptions: {chunkFileNames: 'chunks/[name]-[hash].js'},
  logLevel: 'warn',
});
