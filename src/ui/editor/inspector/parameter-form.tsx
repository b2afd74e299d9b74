import type { ReactNode } from 'react'
import type { ParameterSchema, ParametersSchema } from '../../../http/routes/editor/blocks.ts'
import type { Params } from '../document/document.ts'
import { applies, shownObject } from './object-members.ts'
import { ParameterField, type ParameterProps } from './parameter-field.tsx'

export type Modes = Readonly<Record<string, string>>

/** Parameters that are rarely changed; they are folded under “More settings”. */
const rare = new Set([
  'timeoutMs',
  'retries',
  'expect',
  'pagination',
  'pace',
  'batch',
  'responseType',
  'followRedirects',
  'onError',
  'maxSteps',
  'temperature',
  'maxTokens',
  'overlap',
  'missed',
  'missedMax',
  'jitterMs',
  'startAt',
  'endAt',
  'concurrency',
  'idempotency',
  'history',
  'messages',
  'pathParams',
  'historyMax',
])

/** A form generated from a block's schema. */
export function ParameterForm({
  schema,
  modes,
  params,
  onSet,
  onLeave,
  errorOf,
  readOnly,
  givenAtSave = [],
  below,
  Tools,
}: {
  schema: ParametersSchema
  modes: Modes
  params: Params
  onSet: (name: string, value: unknown) => void
  /** Called when the focus leaves a field. */
  onLeave?: (name: string) => void
  /**
   * The problem with a parameter or a part of it, such as `tools.0.name`. `isWhole`: ignore problems with its parts.
   */
  errorOf: (path: string, isWhole?: boolean) => string | undefined
  readOnly: boolean
  /** Parameters that the service fills in when they are missing. */
  givenAtSave?: readonly string[]
  /** Shown below the field of a parameter. */
  below?: (name: string) => ReactNode
  Tools?: ParameterProps['Tools']
}) {
  // A problem prevents the deployment even if its parameter does not apply, so the form shows it.
  const shown = Object.entries(schema.properties).filter(
    ([name, property]) => isWanted(name, params) && (applies(property, params) || errorOf(name) !== undefined),
  )
  const plain = shown.filter(([name]) => !rare.has(name))
  const folded = shown.filter(([name]) => rare.has(name))
  const isChanged = folded.some(([name]) => params[name] !== undefined || errorOf(name) !== undefined)
  const draw = ([name, property]: [string, ParameterSchema]) => (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus has left the field
    <div
      key={name}
      // The search of the workflow looks for the field of a parameter.
      data-parameter={name}
      className="flex flex-col gap-1.5"
      onBlur={({ currentTarget, relatedTarget }) => currentTarget.contains(relatedTarget) || onLeave?.(name)}
    >
      <ParameterField
        name={name}
        schema={property}
        mode={modes[name] ?? 'template'}
        isRequired={
          (schema.required?.includes(name) === true && property.default === undefined) || isNeeded(name, params)
        }
        value={params[name]}
        params={params}
        onChange={(value) => onSet(name, value)}
        // Stays empty while the field has the focus. Left empty, it is removed, so that the service's value returns.
        onDone={givenAtSave.includes(name) ? () => params[name] === '' && onSet(name, undefined) : undefined}
        // Problems with a tool or member are shown at that tool or member.
        error={errorOf(name, modes[name] === 'tools' || shownObject(property, params[name]) !== undefined)}
        errorOf={(path) => errorOf(`${name}.${path}`)}
        Tools={Tools}
        readOnly={readOnly}
      />
      {below?.(name)}
    </div>
  )
  return (
    <>
      {plain.map(draw)}
      {folded.length > 0 && (
        <details open={isChanged} className="group -mx-1">
          <summary className="cursor-default rounded-md px-1 py-1 text-xs font-medium text-muted select-none hover:text-text">
            More settings
          </summary>
          <div className="flex flex-col gap-4 px-1 pt-3">{folded.map(draw)}</div>
        </details>
      )}
    </>
  )
}

/** Whether a parameter that the schema calls optional is needed, given the values of the others. */
function isNeeded(name: string, params: Params): boolean {
  const provider = params['provider']
  const isCompatible = provider === 'openai-compatible'
  switch (name) {
    // Shown only while they decide how often a container repeats.
    case 'iterations':
    case 'forEachItems':
    case 'count':
    case 'distribution':
      return true
    // Optional in the schema, but needed while a check that uses them is selected.
    case 'regex':
    case 'source':
    case 'provider':
    case 'model':
      return true
    case 'condition':
      return 'loopType' in params
    case 'baseUrl':
      return isCompatible
    case 'apiKey':
      return provider !== undefined && !isCompatible
    case 'password':
      return params['access'] === 'password'
    case 'file':
      return params['bodyType'] === 'file'
    case 'cron':
      return params['intervalMs'] === undefined && params['request'] === undefined
    case 'intervalMs':
      return params['cron'] === undefined
    case 'userPrompt':
      return !Array.isArray(params['messages']) || params['messages'].length === 0
    default:
      return false
  }
}

/** Whether a parameter applies, given the values of the others. */
function isWanted(name: string, params: Params): boolean {
  const has = params[name] !== undefined && params[name] !== ''
  const method = params['method'] ?? 'GET'
  const isBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  const whole = typeof method === 'string' && !method.includes('<')
  switch (name) {
    case 'body':
      return has || !('url' in params) || !whole || (isBody && params['bodyType'] !== 'file')
    case 'bodyType':
      return has || !whole || isBody
    case 'file':
      return has || params['bodyType'] === 'file'
    case 'pathParams':
      return (
        has ||
        /:\w|\{\w/.test(
          String(params['url'] ?? '')
            .replace(/^\w+:\/\//, '')
            .replace(/^[^/]*/, ''),
        )
      )
    case 'baseUrl':
      return has || params['provider'] === 'openai-compatible'
    case 'password':
      return has || params['access'] === 'password'
    case 'iterations':
      return has && params['loopType'] === undefined ? true : params['loopType'] === 'for'
    case 'forEachItems':
      return params['loopType'] === 'forEach'
    case 'condition':
      return params['loopType'] === 'while' || params['loopType'] === 'doWhile'
    case 'count':
      return params['parallelType'] === 'count'
    case 'distribution':
      return params['parallelType'] === 'collection'
    // In a container, it is its own ID; in a poll, the path of an item's ID.
    case 'id':
      return 'request' in params
    default:
      return name !== 'nodes'
  }
}
