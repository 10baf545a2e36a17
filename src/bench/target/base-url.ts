/**
 * An address as it is given with `--base-url`. A name and a password in it become a header, and are shown nowhere: neither
 * in messages nor in results.
 */

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The header for the name and the password of an address such as `http://user:password@host`; none without them. */
export function basicAuthorization(baseUrl: string | null): {authorization?: string} {
  const url = urlWithCredentials(baseUrl);
  if (url === null) return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {authorization: `Basic ${Buffer.from(pair).toString('base64')}`};
}

/** Addresses that have none, or are no addresses, stay as they are. */
export function withoutCredentials(baseUrl: string | null): string | null {
  const url = urlWithCredentials(baseUrl);
  if (url === null) return baseUrl;
  Object.assign(url, {username: '', password: ''});
  return url.href;
}

function urlWithCredentials(baseUrl: string | null): URL | null {
  if (baseUrl === null || !isHttpUrl(baseUrl)) return null;
  const url = new URL(baseUrl);
  return url.username === '' && url.password === '' ? null : url;
}
