/** The files of `--ssl-…` as options of Node's HTTPS server, checked before anything is bound. */
import {readFile} from 'node:fs/promises';
import type {ServerOptions as HttpsOptions} from 'node:https';
import {createSecureContext} from 'node:tls';
import {UsageError} from '../core/errors.ts';
import {readFault} from '../core/util/file-fault.ts';
import type {ServerOptions} from './server-config.ts';

export type TlsSettings = Pick<
  ServerOptions,
  'sslKeyfile' | 'sslCertfile' | 'sslCaCerts' | 'sslCertReqs' | 'sslCiphers'
>;

/** What `--ssl-cert-reqs` counts: none, optional, required. */
const [OPTIONAL, REQUIRED] = [1, 2];

async function readPem(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new UsageError(`${flag}: ${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

/**
 * The key may stand in the file of the certificate.
 * @returns null without a certificate: the server speaks plain HTTP
 * @throws UsageError when a file cannot be read or the parts do not fit together
 */
export async function readTlsOptions(settings: TlsSettings): Promise<HttpsOptions | null> {
  const {sslKeyfile, sslCertfile, sslCaCerts, sslCertReqs, sslCiphers} = settings;
  if (sslCertfile === null) {
    if (sslKeyfile !== null) throw new UsageError('--ssl-keyfile needs --ssl-certfile');
    return null;
  }
  const tls: HttpsOptions = {
    cert: await readPem('--ssl-certfile', sslCertfile),
    key: await readPem('--ssl-keyfile', sslKeyfile ?? sslCertfile),
    ...(sslCaCerts !== null && {ca: await readPem('--ssl-ca-certs', sslCaCerts)}),
    ...(sslCiphers !== null && {ciphers: sslCiphers}),
    requestCert: sslCertReqs >= OPTIONAL,
    rejectUnauthorized: sslCertReqs === REQUIRED,
  };
  checkTogether(tls);
  return tls;
}

function checkTogether(tls: HttpsOptions): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new UsageError(`The files of --ssl-certfile and --ssl-keyfile do not work: ${(cause as Error).message}`, {
      cause,
    });
  }
}
