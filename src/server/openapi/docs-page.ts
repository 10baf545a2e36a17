/** The API description as one HTML page: no script, no network, nothing but what is in it. */
import type {JsonSchema} from '../../core/protocol/openai/request-json-schema.ts';
import type {ApiDocument, ApiOperation} from './api-document.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --quiet: #8889; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } code { font: 13px ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; } .method { display: inline-block; font-weight: 700; width: 3.5rem; }
.quiet { color: var(--quiet); } table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .2rem .6rem .2rem 0; vertical-align: top; }`;

const ENTITIES: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

export function docsPage(document: ApiDocument): string {
  const {title, version, description} = document.info;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} API</title>
<style>${STYLE}</style>
<h1>${title} <span class="quiet">${escapeHtml(version)}</span></h1>
<p>${description} For programs: <a href="openapi.json">openapi.json</a>.</p>
${operationSections(document)}
<h2>Schemas</h2>
${Object.entries(document.components.schemas)
  .map(([name, schema]) => schemaDetails(name, schema))
  .join('\n')}
</html>
`;
}

function operationSections(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({path, method, operation})),
  );
  const tags = [...new Set(operations.flatMap(({operation}) => operation.tags))];
  return tags
    .map((tag) => {
      const ofTag = operations.filter(({operation}) => operation.tags.includes(tag));
      return `<h2>${tag}</h2>\n${ofTag.map(operationDetails).join('\n')}`;
    })
    .join('\n');
}

function operationDetails({path, method, operation}: {path: string; method: string; operation: ApiOperation}): string {
  const body = operation.requestBody?.content['application/json']?.schema;
  const rows = Object.entries(operation.responses).map(([status, {description, content = {}}]) => {
    const kinds = Object.entries(content).map(([type, {schema}]) => `<code>${escapeHtml(type)}</code> ${form(schema)}`);
    return row([status, escapeHtml(description), kinds.join('<br>')]);
  });
  return `<details><summary><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code>
<span class="quiet">${escapeHtml(operation.summary)}</span></summary>
${body ? `<p>Body: ${form(body)}</p>` : ''}
<table>${rows.join('')}</table></details>`;
}

function schemaDetails(name: string, schema: JsonSchema): string {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([field, value]) => {
    const {description = '', default: standard} = value as JsonSchema;
    const notes = [
      ...(required.has(field) ? ['required'] : []),
      ...(standard === undefined ? [] : [`default <code>${escapeHtml(JSON.stringify(standard))}</code>`]),
      escapeHtml(description),
    ];
    return row([`<code>${escapeHtml(field)}</code>`, form(value as JsonSchema), notes.join(' ')]);
  });
  const content = rows.length > 0 ? `<table>${rows.join('')}</table>` : form(schema);
  return `<details id="${name}"><summary><code>${name}</code></summary>${content}</details>`;
}

function row(cells: string[]): string {
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

/** A schema in a few words: types, the values of a choice, the name of another schema. */
function form(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!;
    return `<a href="#${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(' | ');
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map((branch) => form(branch as JsonSchema)).join(' | ');
  if (schema.type === 'array') return `list of (${form((schema.items ?? {}) as JsonSchema)})`;
  return [schema.type ?? 'anything'].flat().join(' | ');
}
