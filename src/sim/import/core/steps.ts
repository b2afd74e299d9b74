import { isObject, setMember } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock, Mapping } from '../mapping.ts'
import { parseJson } from '../sim-values.ts'
import { objectsOf } from './agent-tools.ts'
import { rowsOf } from './api.ts'
import { renamed } from './branches.ts'

export function mapFunction({ values }: BlockToMap): Mapping {
  const language = textOf(values.peek('language')).toLowerCase()
  if (language !== '' && language !== 'javascript') {
    return { needs: `a sandbox for ${language}, which functions do not have. Rewrite the code in JavaScript` }
  }
  values.drop('language')
  const written = values.take('code')
  // In old files, the code is a list of parts.
  const code = Array.isArray(written)
    ? objectsOf(written)
        .map(({ content }) => textOf(content))
        .join('\n')
    : isObject(written)
      ? textOf(written['code'] ?? written['content'])
      : textOf(written)
  const timeoutMs = values.number('timeout')
  const isLong = timeoutMs !== undefined && timeoutMs >= 1 && timeoutMs <= 300_000
  const needsModules = /^\s*(?:import\s[^(]|const\s.*=\s*require\()/m.test(code)
  return {
    type: 'function',
    params: { code, ...(isLong ? { timeoutMs: Math.round(timeoutMs) } : {}) },
    output: (path) => renamed(path, { files: undefined }),
    notes: needsModules ? ['The code imports modules, which the sandbox does not have. Rewrite these parts.'] : [],
    ...(language === '' ? {} : { kept: { language } }),
  }
}

export function mapResponse({ values }: BlockToMap): MappedBlock {
  const params: Record<string, unknown> = {}
  const mode = textOf(values.peek('dataMode'))
  const built = values.peek('builderData')
  const isBuilt = mode === 'structured' || (mode === '' && values.peek('data') === undefined)
  values.drop('dataMode')
  if (isBuilt && built !== undefined) {
    values.take('builderData')
    params['data'] = builtValue(built)
  } else {
    const data = values.take('data')
    if (data !== undefined) params['data'] = data
  }
  const status = values.number('status')
  if (status !== undefined) params['status'] = status
  const headers = rowsOf(values.peek('headers'))
  if (headers) {
    values.take('headers')
    if (headers.length > 0) params['headers'] = headers
  }
  return { type: 'response', params }
}

/** Makes the object that the rows of Sim's response builder describe. */
function builtValue(rows: unknown): unknown {
  const list = typeof rows === 'string' ? (parseJson(rows) ?? rows) : rows
  if (!Array.isArray(list)) return list
  const built: Record<string, unknown> = {}
  for (const row of list.filter(isObject)) {
    const name = textOf(row['name'])
    if (name !== '') setMember(built, name, builtMember(row))
  }
  return built
}

function builtMember({ type, value, properties }: Record<string, unknown>): unknown {
  const inner = properties ?? value
  switch (type) {
    case 'object':
      return Array.isArray(inner) ? builtValue(inner) : parsedText(inner)
    case 'array':
      return Array.isArray(inner)
        ? inner.map((item: unknown) => (isObject(item) ? builtMember(item) : item))
        : parsedText(inner)
    case 'number':
    case 'boolean':
      return parsedText(value)
    default:
      return value ?? null
  }
}

function parsedText(value: unknown): unknown {
  return typeof value === 'string' ? (parseJson(value) ?? value) : (value ?? null)
}

export function mapVariables({ values }: BlockToMap): MappedBlock {
  const assign = objectsOf(values.json('variables')).flatMap(({ variableName, name, type, value }) => {
    const variable = textOf(variableName) || textOf(name)
    if (variable === '') return []
    return [{ name: variable, value: type === 'string' || type === 'plain' ? (value ?? null) : parsedText(value) }]
  })
  return { type: 'variables', params: { assign } }
}

export function mapWait({ values }: BlockToMap): MappedBlock {
  const isAsync = ['true', '1'].includes(textOf(values.take('async')))
  const amount = values.text('timeValue') ?? '10'
  const short = values.text('timeUnit')
  const long = values.text('timeUnitLong')
  const unit = (isAsync ? long : short) ?? (isAsync ? 'minutes' : 'seconds')
  const other = isAsync ? short : long
  return {
    type: 'wait',
    params: { for: `${amount.trim()} ${unit}` },
    output: (path) => renamed(path, { waitDuration: 'waitedMs', status: undefined, resumeAt: undefined }),
    ...(other === undefined ? {} : { kept: { [isAsync ? 'timeUnit' : 'timeUnitLong']: other } }),
  }
}

export function mapWorkflow({ values }: BlockToMap): MappedBlock {
  const workflowId = values.text('workflowId') ?? values.text('manualWorkflowId') ?? ''
  const mapping = values.json('inputMapping')
  const input = isObject(mapping) ? mapping : values.take('input')
  return {
    type: 'workflow',
    params: { workflowId, ...(input === undefined ? {} : { input }) },
    output: (path) =>
      path[0] === 'response'
        ? ['output', ...path.slice(1)]
        : renamed(path, {
            ...{ result: 'output', childWorkflowName: undefined, childWorkflowId: undefined },
            childTraceSpans: undefined,
          }),
    notes: [
      workflowId === ''
        ? 'The file does not say which workflow the block calls. Choose one.'
        : `The block calls the workflow ${workflowId} of Sim. Choose the imported workflow instead.`,
    ],
  }
}
