/** Entry file of a process that runs templates from requests: one task in, one result out. It ends with its parent. */
import {serializeError} from '../../errors.ts';
import {parseJson} from '../../util/parse-json.ts';
import {ChatTemplateCache} from '../chat-template.ts';
import type {TemplateResult, TemplateTask} from './messages.ts';

const templates = new ChatTemplateCache();

process.on('message', (task: TemplateTask) => process.send?.(resultOf(task)));
process.on('disconnect', () => process.exit(0));
// Signals at the terminal go to all processes of the group; the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

function resultOf(task: TemplateTask): TemplateResult {
  try {
    const template = templates.get(task.source);
    if (task.type === 'render') {
      const variables = parseJson(task.variablesJson) as Record<string, unknown>;
      return {type: 'rendered', text: template.render(variables)};
    }
    return {type: 'inspected', contentFormat: template.contentFormat, variables: [...template.variables]};
  } catch (error) {
    return {type: 'failed', error: serializeError(error)};
  }
}
