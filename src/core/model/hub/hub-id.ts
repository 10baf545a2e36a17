/**
 * How a person names a model that is no path: `owner/name` on the Hugging Face Hub, with `:` and a choice of files behind
 * it (`owner/name:Q8_0`), or the address of its page. Pure.
 */

export interface HubId {
  /** `owner/name` */
  repo: string;
  /** A quantization, a file name or a pattern; null = choose by rule. */
  selector: string | null;
  /** Named in the address of a page; null = not named. */
  revision: string | null;
}

const namePattern = /^[A-Za-z0-9][\w.-]{0,95}$/;
const prefixes = /^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\/(?:models\/)?|^(?:hf:\/\/|hf:|huggingface:)/i;

/** @returns null when this cannot be an id: a path, or a name without an owner */
export function parseHubId(text: string): HubId | null {
  const [path = '', selector = null] = splitOnce(text.replace(prefixes, ''), ':');
  const [owner = '', name = '', ...rest] = path.replace(/\/+$/, '').split('/');
  if (![owner, name].every((part) => namePattern.test(part)) || /--|\.\./.test(owner + name)) return null;
  const repo = `${owner}/${name}`;
  if (rest.length === 0) return {repo, selector: selector || null, revision: null};
  const [view = '', revision = '', ...file] = rest;
  if (!['tree', 'blob', 'resolve'].includes(view) || revision === '') return null;
  return {repo, selector: selector ?? (file.join('/') || null), revision: decodeURIComponent(revision)};
}

function splitOnce(text: string, separator: string): [string] | [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}
