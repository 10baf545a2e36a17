/** `GET /tokenizer_info`, with `--enable-tokenizer-info-endpoint`: the tokenizer's configuration. */
import type {RouteTable} from '../route-table.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerTokenizerInfo(routes: RouteTable, {llm}: ServerContext): void {
  routes.add('GET', '/tokenizer_info', (_request, reply) => sendJson(reply, 200, llm.tokenizerInfo()));
}
