import { lazy, Suspense, useRef } from 'react'
import type { ParametersSchema } from '../../../http/routes/editor/blocks.ts'
import { classes } from '../../parts/class-names.ts'
import type { Params } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { needsVariable, parameterPath, VariableNotes } from '../finding-fix.tsx'
import { type Finding, useFindings } from '../findings.tsx'
import { FirstLook, useFirstLook } from './first-look.ts'
import { McpForm } from './mcp/mcp-form.tsx'
import { changesOf } from './object-members.ts'
import { OperationForm } from './operation/operation-form.tsx'
import type { ToolsProps } from './parameter-field.tsx'
import { ParameterForm } from './parameter-form.tsx'

/** The parameters of a block. */
export function BlockForm({ blockId }: { blockId: string }) {
  const { draft, held, types, readOnly } = useEditing()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const settings = useDraft(({ document }) => document.loops?.[blockId] ?? document.parallels?.[blockId])
  const all = useFindings(blockId)
  const findings = all.filter((finding) => !needsVariable(finding))
  const type = block && types.get(block.type)
  const isChanged = useChangedSinceCheck((type?.container ? settings : block?.params) as Params | undefined, all)
  const isFirst = useFirstLook(block?.type ?? '')
  if (!block || !type)
    return (
      <p className="text-sm text-muted">
        This version of Millrace does not support this block type. Update Millrace or remove the block.
      </p>
    )
  const at = type?.container ? `.${blockId}` : `.${blockId}.params`
  const params = (type.container ? settings : block.params) ?? {}
  const errorOf = (path: string, isWhole = false) => {
    // A value that was changed since the check may be right by now.
    if (isChanged(path.split('.')[0] ?? '')) return undefined
    return findings.find((finding) => {
      const found = `.${finding.path.replaceAll(/\[(\w+)\]/g, '.$1')}.`
      return isWhole ? found.endsWith(`${at}.${path}.`) : found.includes(`${at}.${path}.`)
    })?.message
  }
  if (type.container) {
    return (
      <FirstLook value={isFirst}>
        <ParameterForm
          schema={type.container.settings}
          modes={{}}
          params={params as Params}
          onSet={(name, value) => {
            held.change(blockId, name)
            draft.perform({ kind: 'container', id: blockId, settings: { [name]: value } }, `${blockId} ${name}`)
          }}
          onLeave={(name) => held.leave(blockId, name)}
          errorOf={errorOf}
          readOnly={readOnly}
        />
      </FirstLook>
    )
  }
  const own = ownForms[block.type]
  return (
    <FirstLook value={isFirst}>
      {own && (
        <own.Form
          params={params as Params}
          onSet={(changed) => {
            for (const name of Object.keys(changed)) held.change(blockId, name)
            draft.perform({ kind: 'set', id: blockId, params: changed }, `${blockId} ${Object.keys(changed).join()}`)
          }}
          onLeave={() => {
            for (const name of own.shows) held.leave(blockId, name)
          }}
          readOnly={readOnly}
          errorOf={errorOf}
        />
      )}
      <ParameterForm
        schema={own ? without(own.shows, type.parameters) : type.parameters}
        modes={type.modes as Record<string, string>}
        params={params as Params}
        onSet={(name, value) => {
          held.change(blockId, name)
          const changed = changesOf(type.parameters.properties, params as Params, name, value)
          draft.perform({ kind: 'set', id: blockId, params: changed }, `${blockId} ${name}`)
        }}
        onLeave={(name) => held.leave(blockId, name)}
        errorOf={errorOf}
        readOnly={readOnly}
        givenAtSave={type.givenAtSave}
        Tools={Tools}
        below={(name) => (
          <VariableNotes findings={all.filter((one) => needsVariable(one) && parameterPath(one)[0] === name)} />
        )}
      />
    </FirstLook>
  )
}

/** Blocks with a special form for some parameters. `shows`: the names of these parameters. */
const ownForms: Readonly<Record<string, { Form: typeof OperationForm | typeof McpForm; shows: readonly string[] }>> = {
  operation: { Form: OperationForm, shows: ['connector', 'operation', 'credential', 'params'] },
  mcp: { Form: McpForm, shows: ['server', 'credential', 'tool', 'arguments'] },
}

function without(names: readonly string[], { properties, ...schema }: ParametersSchema): ParametersSchema {
  const rest = Object.entries(properties).filter(([name]) => !names.includes(name))
  return { ...schema, properties: Object.fromEntries(rest) }
}

// Loaded on demand: few blocks have tools.
const ToolsField = lazy(async () => ({ default: (await import('./tools-field.tsx')).ToolsField }))

function Tools(props: ToolsProps) {
  return (
    <Suspense fallback={<div className="skeleton h-8" />}>
      <ToolsField {...props} />
    </Suspense>
  )
}

/** The problems of a block that belong to none of its fields. */
export function BlockFindings({ blockId }: { blockId: string }) {
  const { types } = useEditing()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const type = block && types.get(block.type)
  // Problems with a parameter are shown at its field.
  const fields = Object.keys((type?.container ? type.container.settings : type?.parameters)?.properties ?? {})
  const findings = useFindings(blockId).filter(({ path }) => !path.split(/[.[]/).some((part) => fields.includes(part)))
  if (findings.length === 0) return null
  return (
    <ul className="flex flex-col gap-1.5">
      {findings.map(({ path, code, level, message }) => (
        <li
          key={`${path} ${code}`}
          className={classes(
            'rounded-md px-2.5 py-1.5 text-xs break-words',
            level === 'error' ? 'bg-error-soft text-error-text' : 'bg-warn-soft text-warn-text',
          )}
        >
          {message}
        </li>
      ))}
    </ul>
  )
}

/** Tells whether a parameter has changed since the check whose findings are shown. */
function useChangedSinceCheck(params: Params | undefined, findings: readonly Finding[]): (name: string) => boolean {
  const checked = useRef({ params, findings })
  if (checked.current.findings !== findings) checked.current = { params, findings }
  const before = checked.current.params
  return (name) => before?.[name] !== params?.[name]
}
