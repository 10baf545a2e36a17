/**
 * Finds the native ONNX Runtime library that the package `onnxruntime-node` ships. Only the shared library is used; the
 * package's own JavaScript binding copies every output on every run and cannot keep a KV cache (docs/decisions/0003).
 */
import {existsSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {ModelError} from '../../../errors.ts';

/** Name of the shared library by platform; a version may follow. */
const libraryNames: Partial<Record<NodeJS.Platform, RegExp>> = {
  linux: /^libonnxruntime\.so(\.\d+)*$/,
  darwin: /^libonnxruntime(\.\d+)*\.dylib$/,
  win32: /^onnxruntime\.dll$/,
};

/**
 * @returns absolute path of the shared library for this platform
 * @throws ModelError when the package has none for it
 */
export function findOrtLibrary(): string {
  const packageFolder = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  const folder = path.join(packageFolder, 'bin', 'napi-v6', process.platform, process.arch);
  const pattern = libraryNames[process.platform];
  const file = pattern && existsSync(folder) ? readdirSync(folder).find((name) => pattern.test(name)) : undefined;
  if (!file) {
    throw new ModelError(
      `onnxruntime-node has no native library for ${process.platform}/${process.arch}. ` +
        'It ships for linux, macOS and Windows on x64 and arm64.',
    );
  }
  return path.join(folder, file);
}
