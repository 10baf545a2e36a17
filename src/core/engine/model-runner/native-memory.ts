/** What JavaScript has no words for: giving pages of a large buffer back to the system while the buffer lives. */
import koffi from 'koffi';
import {addressOf} from './ort/ort-tensor.ts';

const pageBytes = 4096;
/** Linux: drop the pages; they read as zero when they are touched again. */
const adviseDontNeed = 4;

type Advise = (address: bigint, numBytes: number, advice: number) => number;
/** The system's function with the library handle that keeps it loaded; null = this system has none. */
let advise: {call: Advise; library: unknown} | null | undefined;

/**
 * Gives whole pages of this range back to the system. Their content is lost. Does nothing where the system has no such
 * call (the memory is then used again by the next owner of the row).
 */
export function givePagesBack(range: Float32Array | Uint16Array): void {
  if (advise === undefined) advise = loadAdvise();
  if (!advise || range.byteLength < pageBytes) return;
  const start = addressOf(range);
  const first = roundUpToPage(start);
  const end = start + BigInt(range.byteLength);
  const numBytes = Number(end - (end % BigInt(pageBytes)) - first);
  if (numBytes > 0) advise.call(first, numBytes, adviseDontNeed);
}

function roundUpToPage(address: bigint): bigint {
  const page = BigInt(pageBytes);
  return ((address + page - 1n) / page) * page;
}

function loadAdvise(): typeof advise {
  if (process.platform !== 'linux') return null;
  try {
    const library = koffi.load(null);
    return {library, call: library.func('madvise', 'int', ['void*', 'size_t', 'int']) as unknown as Advise};
  } catch {
    return null;
  }
}
