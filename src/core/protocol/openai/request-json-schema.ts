/**
 * What a lax request schema takes, as JSON schema for the API description. The schemas are functions that read values,
 * so each carries its description beside it; only the plain form is described ("an integer", not "also its text").
 */
import * as z from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Made when it is asked for: most processes never show it. */
export type Describe = () => JsonSchema;

const descriptions = z.registry<{describe: Describe}>();

function replaceContent(target: JsonSchema, content: JsonSchema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, content);
}

/** Puts a description beside a schema; returns the same schema. */
export function described<T extends z.ZodType>(schema: T, describe: Describe): T {
  descriptions.add(schema, {describe});
  return schema;
}

/** The JSON schema of bodies that a request schema takes. */
export function requestJsonSchema(schema: z.ZodType): JsonSchema {
  const {$schema: _dialect, ...jsonSchema} = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({zodSchema, jsonSchema}) => {
      const description = descriptions.get(zodSchema)?.describe();
      if (description) replaceContent(jsonSchema, description);
    },
  });
  return jsonSchema;
}
