type Schema = Record<string, never>

/**
 * A JSON body in the OpenAPI document. The plugin's types know OpenAPI 3.0 schemas only; TypeBox makes JSON schemas,
 * which OpenAPI 3.1 uses.
 */
export function jsonContent(schema: object): { 'application/json': { schema: Schema } } {
  return { 'application/json': { schema: schema as Schema } }
}

/** A stream of server-sent events in the OpenAPI document, with the events of an example. */
export function eventContent(events: readonly string[]) {
  const schema = { type: 'string' } as unknown as Schema
  return { 'text/event-stream': { schema, example: `${events.join('\n\n')}\n\n` } }
}
