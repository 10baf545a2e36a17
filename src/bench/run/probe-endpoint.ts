/**
 * A small request before the run: does the endpoint stream, and how much does it tell of token counts? Some servers refuse
 * the field that asks for them in every event, some every such field, so a refused one is asked again for less.
 */
import {ServingError} from '../../core/errors.ts';
import {userTurn} from '../datasets/dataset.ts';
import {messageOf} from '../sse/refusal.ts';
import {statusHint, wholeResponseHint} from '../target/fault-hints.ts';
import type {Target} from '../target/find-target.ts';
import type {HttpAnswer, HttpClient} from '../target/http-client.ts';
import {type BodyOptions, requestBody, type UsageDetail} from './request-bodies.ts';

/** From the most that can be asked for to the least. */
const details: readonly UsageDetail[] = ['every-event', 'at-end', 'none'];
/** Statuses of a field that is not known or not allowed. */
const refusals = [400, 422];
/** Every request would fail like this one. */
const lastingFaults = [301, 302, 307, 308, 401, 403, 404, 405];

/**
 * @returns the most that the server tells; what else is wrong with it is left to the run
 * @throws ServingError when no request can succeed: wrong path, key, or model, or no stream
 */
export async function probeEndpoint(
  client: HttpClient,
  target: Target,
  options: Omit<BodyOptions, 'usageDetail'>,
): Promise<UsageDetail> {
  for (const usageDetail of details) {
    const body = requestBody(userTurn('Hi', {outputTokens: 1}), {...options, usageDetail});
    const answer = await client.post(target.endpoint, body).catch(() => null);
    if (answer !== null) refuseLastingFaults(answer, client, target);
    if (answer === null || !refusals.includes(answer.status)) return usageDetail;
  }
  // It is something else that the server does not like, and each failure of the run will say what.
  return details[0];
}

function refuseLastingFaults(answer: HttpAnswer, {hasKey}: HttpClient, target: Target): void {
  const {status, text, contentType} = answer;
  const asked = {...target, hasKey};
  if (lastingFaults.includes(status)) {
    throw new ServingError(
      [`${target.url} answers ${status}: ${messageOf(text) || 'no message'}`, statusHint(status, asked)].join('\n'),
    );
  }
  if (status !== 200 || contentType.includes('text/event-stream')) return;
  throw new ServingError(
    [
      `${target.url} answers with ${contentType || 'no content type'} where a stream of events was asked for`,
      wholeResponseHint,
    ].join('\n'),
  );
}
