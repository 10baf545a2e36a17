/**
 * The API description: an OpenAPI 3.1 document of exactly the routes that this server has. Routes of plugins appear with
 * their summary; what they take and answer is theirs.
 */
import {STATUS_CODES} from 'node:http';
import type {JsonSchema} from '../../core/protocol/openai/request-json-schema.ts';
import {isGuarded} from '../plugins/auth.ts';
import type {RouteEntry} from '../route-table.ts';
import {ROUTE_DESCRIPTIONS, type RouteDescription} from './route-descriptions.ts';
import {type AnswerName, componentSchemas} from './schema-table.ts';

export interface ApiDocumentOptions {
  version: string;
  /** Path prefix of a proxy; empty for none. */
  rootPath: string;
  asksForKey: boolean;
}

export interface ApiAnswer {
  description: string;
  content?: Record<string, {schema: JsonSchema}>;
}

export interface ApiOperation {
  summary: string;
  operationId: string;
  tags: string[];
  requestBody?: {required: true; content: Record<string, {schema: JsonSchema}>};
  parameters?: {name: string; in: 'path'; required: true; schema: JsonSchema}[];
  responses: Record<string, ApiAnswer>;
  security?: Record<string, string[]>[];
}

export interface ApiDocument {
  openapi: string;
  info: {title: string; version: string; description: string};
  servers?: {url: string}[];
  paths: Record<string, Record<string, ApiOperation>>;
  components: {schemas: Record<string, JsonSchema>; securitySchemes?: Record<string, object>};
}

export function apiDocument(routes: readonly RouteEntry[], options: ApiDocumentOptions): ApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parlance',
      version: options.version,
      description: 'Language models behind the HTTP API of OpenAI and vLLM.',
    },
    ...(options.rootPath !== '' && {servers: [{url: options.rootPath}]}),
    paths: pathsOf(routes, options),
    components: {
      schemas: componentSchemas(),
      ...(options.asksForKey && {securitySchemes: {key: {type: 'http', scheme: 'bearer'}}}),
    },
  };
}

function pathsOf(routes: readonly RouteEntry[], options: ApiDocumentOptions): ApiDocument['paths'] {
  const paths: ApiDocument['paths'] = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = {...paths[path], [route.method.toLowerCase()]: operationOf(route, options)};
  }
  return paths;
}

function operationOf(route: RouteEntry, {asksForKey}: ApiDocumentOptions): ApiOperation {
  const {method, path, summary} = route;
  const description = ROUTE_DESCRIPTIONS[`${method} ${path}`];
  const needsKey = asksForKey && isGuarded(path);
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return {
    summary: description?.summary ?? summary ?? `${method} ${path}`,
    operationId: `${method.toLowerCase()}${path.replace(/\W+/g, '_')}`,
    tags: [description?.tag ?? 'Plugins'],
    ...(names.length > 0 && {parameters: names.map(pathParameter)}),
    ...(description?.request && {requestBody: {required: true, content: json(oneOf(description.request))}}),
    responses: description ? answersOf(description, needsKey) : {default: {description: 'As the plugin says'}},
    ...(needsKey && {security: [{key: []}]}),
  };
}

function pathParameter(name: string) {
  return {name, in: 'path', required: true, schema: {type: 'string'}} as const;
}

function answersOf(description: RouteDescription, needsKey: boolean): Record<string, ApiAnswer> {
  const {errors: statuses = [], emptyErrors: empty = []} = description;
  const errors = statuses.map((status) => [status, failure(status, errorNames(status))] as const);
  return {
    200: success(description),
    ...(needsKey && {401: failure(401, ['UnauthorizedResponse'])}),
    ...Object.fromEntries(errors),
    ...Object.fromEntries(empty.map((status) => [status, {description: STATUS_CODES[status] ?? 'Error'}])),
  };
}

function success({answer, chunk}: RouteDescription): ApiAnswer {
  if (answer === null) return {description: 'OK'};
  if (typeof answer === 'object') return {description: 'OK', content: {[answer.mediaType]: {schema: {type: 'string'}}}};
  return {description: 'OK', content: {...json(reference(answer)), ...(chunk && streamOf(chunk))}};
}

/** An event's data is a chunk, an error, or the end mark. */
function streamOf(chunk: string): Record<string, {schema: JsonSchema}> {
  const data: JsonSchema = {anyOf: [reference(chunk), reference('ErrorResponse'), {const: '[DONE]'}]};
  return {'text/event-stream': {schema: {type: 'object', required: ['data'], properties: {data}}}};
}

/** Bytes that are no text are refused in the framework's own shape. */
function errorNames(status: number): AnswerName[] {
  return status === 400 ? ['ErrorResponse', 'FrameworkResponse'] : ['ErrorResponse'];
}

function failure(status: number, names: AnswerName[]): ApiAnswer {
  return {description: STATUS_CODES[status] ?? 'Error', content: json(oneOf(names))};
}

function json(schema: JsonSchema): Record<string, {schema: JsonSchema}> {
  return {'application/json': {schema}};
}

function oneOf(names: readonly string[]): JsonSchema {
  return names.length === 1 ? reference(names[0]!) : {anyOf: names.map(reference)};
}

function reference(name: string): JsonSchema {
  return {$ref: `#/components/schemas/${name}`};
}
