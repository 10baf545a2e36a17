/**
 * Where the tests of the GPU path get a GPU from: the Vulkan driver that `VK_ICD_FILENAMES` names (`.ci/run` sets it), or
 * SwiftShader, a driver in software, where Debian's chromium packages have put it. A folder with a driver may also have the
 * loader, libvulkan.so.1, which the system need not have then.
 */
import {existsSync} from 'node:fs';
import path from 'node:path';
import koffi from 'koffi';
import {OrtApi} from '../../src/core/engine/model-runner/ort/ort-api.ts';
import {findOrtLibrary} from '../../src/core/engine/model-runner/ort/ort-library.ts';

const swiftShader = '/usr/lib/chromium/vk_swiftshader_icd.json';
const driver = [process.env.VK_ICD_FILENAMES, swiftShader].find((file) => file && existsSync(file));
const loader = driver && path.join(path.dirname(driver), 'libvulkan.so.1');
const ownLoader = loader && existsSync(loader) ? loader : null;

/** Null = tests can run. */
export const whyNoVulkan = driver
  ? null
  : "no Vulkan driver: VK_ICD_FILENAMES names none, and SwiftShader of Debian's package chromium-common is not there";

/** What a process needs in its environment to find the driver. */
export function vulkanEnvironment(): Record<string, string> {
  const folders = [ownLoader && path.dirname(ownLoader), process.env.LD_LIBRARY_PATH].filter((folder) => folder);
  return {VK_ICD_FILENAMES: driver ?? '', LD_LIBRARY_PATH: folders.join(':')};
}

/** Makes the driver known in this process; a loaded library is found by its name. @returns what keeps it loaded */
export function useVulkanHere(): unknown {
  process.env.VK_ICD_FILENAMES = driver;
  // It sets up calls into libraries, which is possible before the first one is loaded only.
  const runtime = new OrtApi(findOrtLibrary());
  return [runtime, ownLoader && koffi.load(ownLoader)];
}
