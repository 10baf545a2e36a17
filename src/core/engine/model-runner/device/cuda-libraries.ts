/**
 * Whether ONNX Runtime's CUDA provider is installed. Its libraries are too large for the npm registry: the package's install
 * script fetches them, which does not run here by default (docs/decisions/0001). They must lie beside the main library.
 */
import {existsSync} from 'node:fs';
import path from 'node:path';

const libraryNames = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];
const installCommand = 'ONNXRUNTIME_NODE_INSTALL=cuda12 npm rebuild onnxruntime-node --ignore-scripts=false';

/**
 * @param libraryPath the main library
 * @returns what is missing and how to get it; null = all is there
 */
export function missingCudaLibraries(
  libraryPath: string,
  platform = `${process.platform}/${process.arch}`,
  exists: (file: string) => boolean = existsSync,
): string | null {
  if (platform !== 'linux/x64')
    return `ONNX Runtime's CUDA provider is available for linux/x64 only, this is ${platform}`;
  const folder = path.dirname(libraryPath);
  const missing = libraryNames.filter((name) => !exists(path.join(folder, name)));
  if (missing.length === 0) return null;
  return `${missing.join(' and ')} not found in ${folder}; install with: ${installCommand}`;
}
