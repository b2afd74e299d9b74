import { coerce, isObject, setMember } from '../../domain/run/input.ts'
import type { FieldType, InputField, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { errorExamples } from './error-examples.ts'
import { executeDetail } from './execute-operation.ts'
import { type OpenApi, repairOpenApi } from './openapi.ts'
import type { Json } from './plain-schema.ts'

/** One workflow's endpoint as an OpenAPI document: its input format is the schema of the body. */
export function workflowOpenApi(
  id: string,
  document: WorkflowDocument,
  version: number | null,
  baseUrl: string,
): OpenApi {
  const { name, description = '' } = document
  const format = inputFormatOf(document)
  const operation = {
    ...executeDetail,
    summary: `Run ${name}`,
    requestBody: {
      required: format.some(({ required }) => required),
      content: { 'application/json': { schema: inputSchema(format), ...exampleOf(format) } },
    },
    responses: responsesOf(document),
  }
  const openApi = repairOpenApi(
    {
      openapi: '3.1.0',
      info: { title: name, version: String(version ?? 'draft'), description },
      paths: { [`/api/workflows/${id}/execute`]: { post: operation } },
    },
    { operations: {}, errors: errorExamples },
  )
  return { ...openApi, servers: [{ url: baseUrl }] }
}

/** The declared fields of a workflow's API trigger; none when it has no such trigger. */
export function inputFormatOf({ blocks }: WorkflowDocument): InputField[] {
  const trigger = Object.values(blocks).find(({ type, enabled }) => type === 'api_trigger' && enabled !== false)
  const format = trigger?.params?.['inputFormat']
  if (!Array.isArray(format)) return []
  return format.filter((field): field is InputField => isObject(field) && typeof field['name'] === 'string')
}

/** A response block may send anything; without one, the response is always the result of the run. */
function responsesOf({ blocks }: WorkflowDocument): Json {
  const { default: fromBlock, ...others } = executeDetail.responses
  const hasOwnResponse = Object.values(blocks).some(({ type, enabled }) => type === 'response' && enabled !== false)
  if (!hasOwnResponse) return others
  const description =
    'The content of the response block, or the result of a run that reaches none, or the start of the stream.'
  const content = { ...others[200].content, 'application/json': { schema: {} } }
  return { ...others, 200: { description, content }, default: fromBlock }
}

/** Undeclared members are allowed: the run reads them from `<api.input>`. */
export function inputSchema(format: readonly InputField[]): Json {
  const required = format.filter((field) => field.required).map(({ name }) => name)
  const properties: Json = {}
  for (const field of format) setMember(properties, field.name, fieldSchema(field))
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

function fieldSchema(field: InputField): Json {
  const sample = sampleOf(field)
  return {
    // A draft may have anything there.
    ...(typeof field.type === 'string' ? fieldSchemas[field.type] : {}),
    ...(field.description ? { description: field.description } : {}),
    ...(sample === undefined ? {} : { examples: [sample] }),
  }
}

/** A whole body made of the samples; none when one is missing that has to be there. */
function exampleOf(format: readonly InputField[]): Json {
  const example: Json = {}
  for (const field of format) {
    const sample = sampleOf(field)
    if (sample !== undefined) setMember(example, field.name, sample)
    else if (field.required) return {}
  }
  return Object.keys(example).length === 0 ? {} : { example }
}

/** The sample value as the field's type. The editor keeps all of them as text; files are chosen there. */
function sampleOf({ type, value }: InputField): unknown {
  if (value === undefined || value === null || value === '' || type === 'files') return undefined
  return coerce(value, type)
}

/**
 * The recommended types. The endpoint also accepts values that it can convert without loss, such as a number as text.
 */
const fieldSchemas: Record<FieldType, Json> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array', items: {} },
  files: {
    type: 'array',
    items: {
      type: 'object',
      required: ['type', 'data', 'name'],
      properties: {
        type: { type: 'string', enum: ['file', 'url'] },
        data: { type: 'string', description: 'For `file` a base64 data URI, for `url` an address.' },
        name: { type: 'string', description: 'The file name.' },
        mime: { type: 'string', description: "The media type; else the data URI's holds." },
      },
    },
  },
}
