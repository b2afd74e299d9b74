import { isObject } from '../domain/input.ts'
import type { FieldType, InputField, WorkflowDocument } from '../domain/workflow.ts'
import { ErrorAnswer } from './errors.ts'
import { plainSchema } from './plain-schema.ts'

type Json = Record<string, unknown>

/** One workflow's endpoint as an OpenAPI document: its input format is the schema of the body. */
export function workflowOpenApi(id: string, document: WorkflowDocument, version: number | null, baseUrl: string): Json {
  const { name, description = '' } = document
  return {
    openapi: '3.1.0',
    info: { title: name, version: String(version ?? 'draft'), description },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    paths: {
      [`/api/workflows/${id}/execute`]: {
        post: {
          operationId: 'execute',
          summary: `Run ${name}`,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: inputSchema(inputFormatOf(document)) } },
          },
          responses: {
            200: { description: 'The result of the run, or what its response block answers.' },
            default: {
              description: 'What went wrong.',
              content: { 'application/json': { schema: plainSchema(ErrorAnswer, {}) } },
            },
          },
        },
      },
    },
    components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  }
}

/** The declared fields of a workflow's API trigger; none when it has no such trigger. */
export function inputFormatOf({ blocks }: WorkflowDocument): InputField[] {
  const trigger = Object.values(blocks).find(({ type }) => type === 'api_trigger')
  const format = trigger?.params?.['inputFormat']
  if (!Array.isArray(format)) return []
  return format.filter((field): field is InputField => isObject(field) && typeof field['name'] === 'string')
}

function inputSchema(format: readonly InputField[]): Json {
  const required = format.filter((field) => field.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(format.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length > 0 ? { required } : {}),
  }
}

function fieldSchema({ type, description, value }: InputField): Json {
  return {
    ...fieldSchemas[type],
    ...(description ? { description } : {}),
    ...(value === undefined || value === null || value === '' ? {} : { examples: [value] }),
  }
}

const fieldSchemas: Record<FieldType, Json> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array' },
  files: {
    type: 'array',
    items: {
      type: 'object',
      required: ['type', 'data', 'name'],
      properties: {
        type: { type: 'string', enum: ['file', 'url'] },
        data: { type: 'string', description: 'A base64 data URI, or an address.' },
        name: { type: 'string' },
        mime: { type: 'string' },
      },
    },
  },
}
