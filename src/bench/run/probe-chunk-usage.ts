/** Asks once whether the server gives token counts in every event; some refuse the field. */
import type {BenchSettings} from '../bench-settings.ts';
import type {Target} from '../target/find-target.ts';
import type {HttpClient} from '../target/http-client.ts';

/** False only when the server refuses just this; all other faults are left to the run. */
export async function probeChunkUsage(
  client: HttpClient,
  target: Target,
  backend: BenchSettings['backend'],
): Promise<boolean> {
  const isChat = backend === 'openai-chat';
  const answer = await client
    .post(target.endpoint, {
      model: target.model,
      ...(isChat
        ? {messages: [{role: 'user', content: 'Hi'}], max_completion_tokens: 1}
        : {prompt: 'Hi', max_tokens: 1}),
      stream: true,
      stream_options: {include_usage: true, continuous_usage_stats: true},
    })
    .catch(() => null);
  const isRefused = answer !== null && answer.status >= 400 && answer.status < 500;
  return !(isRefused && /stream_options|continuous_usage/.test(answer.text));
}
