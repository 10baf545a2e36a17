/** A page as text for a tool: http and https only, bounded in size and time, and nothing inside the own network. */
import {lookup} from 'node:dns/promises';
import {BlockList, isIP} from 'node:net';

const maxBytes = 1024 * 1024;
const timeoutMs = 20_000;
const maxRedirects = 5;

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['::ffff:0:0', 96],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv6');
}

/** @throws Error */
export async function fetchText(address: string, signal: AbortSignal): Promise<string> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let url = address;
  for (let step = 0; step <= maxRedirects; step++) {
    await checkAddress(url);
    const response = await fetch(url, {redirect: 'manual', signal: bounded});
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return readText(response);
    url = new URL(location, url).href;
  }
  throw new Error(`more than ${maxRedirects} redirects`);
}

/** @throws Error */
export async function checkAddress(address: string): Promise<void> {
  if (!URL.canParse(address)) throw new Error(`${address} is no address`);
  const {protocol, hostname} = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`only http and https, not ${protocol}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{address: host, family: isIP(host)}] : await lookup(host, {all: true});
  if (found.some(({address, family}) => privateAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4'))) {
    throw new Error(`${host} is a private address`);
  }
}

async function readText(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`status ${response.status}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString('utf8');
}
