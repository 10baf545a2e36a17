/** Tools as a request declares them, made what parsers know of tools. */

import type {JsonSchema, ToolSpec} from './output-parser.ts';
import {inlineReferences} from './schema-references.ts';

export interface DeclaredTool {
  function: {name: string; parameters?: JsonSchema | null | undefined};
}

export function toolSpecs(tools: readonly DeclaredTool[]): ToolSpec[] {
  return tools.map(({function: {name, parameters}}) => ({
    name,
    parameters: parameters === null || parameters === undefined ? undefined : inlineReferences(parameters),
  }));
}
