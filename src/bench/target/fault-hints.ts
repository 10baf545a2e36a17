/**
 * What a person may try when a server cannot be reached or refuses, as data: by the code of a broken connection, by the
 * status of an answer. Used for what stops the command at once and for what is counted in a run.
 */
import type {ErrorType} from '../request-record.ts';

/** What is known of the server and of how it was asked. */
export interface AskedServer {
  /** Whole address that was asked. */
  url: string;
  model: string;
  /** Null when the server has no list. */
  listedModels: readonly string[] | null;
  hasKey: boolean;
}

type Hint = (asked: AskedServer) => string;

const hostOf = ({url}: AskedServer) => new URL(url).host;

const certificateHint: Hint = () =>
  'this machine does not trust its certificate: --insecure accepts any, NODE_EXTRA_CA_CERTS=FILE adds an authority';
const closedHint: Hint = ({url}) =>
  url.startsWith('https:')
    ? 'the connection was closed without an answer: look into the log of the server'
    : 'the connection was closed without an answer: the log of the server says why; if it speaks TLS, the address begins with https://';
const noHttpHint: Hint = () => 'what answers there speaks no HTTP: look at the port';
const slowHint: Hint = (asked) =>
  `${hostOf(asked)} did not answer in time: a firewall may be between, or the host is down`;
const noTlsHint: Hint = () => 'the server speaks no TLS: let the address begin with http://';

/** By the code of the error, as Node and undici name them. */
const connectionHints: Readonly<Record<string, Hint>> = {
  ECONNREFUSED: (asked) => `nothing listens at ${hostOf(asked)}: start the server, or give its address with --url`,
  ENOTFOUND: ({url}) =>
    `there is no host ${new URL(url).hostname}: look at the spelling of --url, or at this machine's DNS`,
  EAI_AGAIN: ({url}) =>
    `the name ${new URL(url).hostname} cannot be looked up now: this machine may have no network or no DNS`,
  EHOSTUNREACH: (asked) => `no way leads to ${hostOf(asked)} from this machine`,
  ENETUNREACH: (asked) => `no way leads to ${hostOf(asked)} from this machine`,
  ETIMEDOUT: slowHint,
  UND_ERR_CONNECT_TIMEOUT: slowHint,
  TimeoutError: () =>
    'the server took the connection and said nothing: it may still load its model; --ready-check-timeout-sec waits',
  EPROTO: noTlsHint,
  ERR_SSL_WRONG_VERSION_NUMBER: noTlsHint,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTlsHint,
  HTTPParserError: noHttpHint,
  UND_ERR_SOCKET: closedHint,
  ECONNRESET: closedHint,
  EPIPE: closedHint,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificateHint,
  SELF_SIGNED_CERT_IN_CHAIN: certificateHint,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificateHint,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificateHint,
  CERT_HAS_EXPIRED: certificateHint,
  ERR_TLS_CERT_ALTNAME_INVALID: certificateHint,
  EMFILE: () => 'raise the limit of open files, as in ulimit -n 65536',
};

const keyHint: Hint = ({hasKey}) =>
  hasKey ? 'the server refuses the key that was given' : 'the server wants a key: give it with --api-key';
const pathHint: Hint = ({url}) =>
  `look whether the server has ${new URL(url).pathname}: --endpoint names another path, --backend openai takes text completions`;
const movedHint: Hint = () =>
  'redirects are not followed, because each would cost time: give the new address with --url';
const notReadyHint: Hint = () =>
  'the server, or a proxy before it, is not ready or has too much to do: --ready-check-timeout-sec waits for it';

/** Known names are told, because the wrong one is the usual reason. */
const missingHint: Hint = (asked) => {
  const {model, listedModels} = asked;
  if (listedModels === null || listedModels.includes(model)) return pathHint(asked);
  return `the server does not list ${model}, but ${shortList(listedModels)}: choose with --model`;
};

const statusHints: Readonly<Record<number, Hint>> = {
  301: movedHint,
  302: movedHint,
  307: movedHint,
  308: movedHint,
  401: keyHint,
  403: keyHint,
  404: missingHint,
  405: pathHint,
  429: () => 'the server limits how much it takes: lower --concurrency or --request-rate',
  502: notReadyHint,
  503: notReadyHint,
  504: notReadyHint,
};

/** For endpoints that give no stream of events. */
export const wholeResponseHint = 'endpoints that answer in one piece are measured with --backend http --whole-response';

const typeHints: Readonly<Partial<Record<ErrorType, Hint>>> = {
  timeout_first: () => '--ttft-timeout is the limit',
  timeout_idle: () => '--idle-timeout is the limit',
  timeout_total: () => '--request-timeout is the limit',
};

const mostNames = 5;

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}

/** @param code of a connection that broke. @returns null for codes that say nothing more */
export function connectionHint(code: string, asked: AskedServer): string | null {
  return connectionHints[code]?.(asked) ?? null;
}

/** @param status of a refusal. @returns null for statuses that say nothing more */
export function statusHint(status: number, asked: AskedServer): string | null {
  return statusHints[status]?.(asked) ?? null;
}

/** For a kind of failure of a run. @param message begins with the code of the connection's error */
export function failureHint(type: ErrorType, message: string, asked: AskedServer): string | null {
  const status = /^http_(\d+)$/.exec(type)?.[1];
  if (status !== undefined) return statusHint(Number(status), asked);
  const code = /^[A-Za-z_]+/.exec(message)?.[0] ?? '';
  if (type === 'connect') return connectionHint(code, asked);
  if (message.startsWith('The answer is no event stream')) return wholeResponseHint;
  return typeHints[type]?.(asked) ?? null;
}
