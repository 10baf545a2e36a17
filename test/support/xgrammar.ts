/**
 * xgrammar, the matcher of the reference, to judge ours by. Its package is a UMD file within a package of ES modules, which
 * no import can read, so its text is run as what it is.
 */
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {compileFunction, constants} from 'node:vm';
import type * as xgrammar from '@mlc-ai/web-xgrammar';

export type XGrammar = typeof xgrammar;

export function loadXGrammar(): XGrammar {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@mlc-ai/web-xgrammar');
  const holder = {exports: {} as XGrammar};
  const run = compileFunction(readFileSync(path, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname'], {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run(holder, holder.exports, createRequire(path), path, path.replace(/[^/\\]*$/, ''));
  return holder.exports;
}
