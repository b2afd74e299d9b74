import { Copy, Ellipsis, Play, Power, StepForward, Trash2, X } from 'lucide-react'
import { lazy, type Ref, Suspense } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { DocsLink, docsOfBlock } from '../../parts/docs-link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import type { Actions } from '../document/actions.ts'
import type { Params } from '../document/document.ts'
import { isTrigger } from '../document/document.ts'
import { nameError } from '../document/edit.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { useFindings } from '../findings.tsx'
import { NameField } from '../name-field.tsx'
import type { Runs } from '../run/use-runs.ts'
import { OutputList } from './output-list.tsx'
import type { ToolsProps } from './parameter-field.tsx'
import { ParameterForm } from './parameter-form.tsx'
import { TriggerSection } from './trigger-section.tsx'
import { Suggestions, useBlockSuggestions } from './use-suggestions.ts'

/** The inspector of the selected block: name, parameters and outputs. */
export function Inspector({
  blockId,
  actions,
  runs,
  ref,
}: {
  blockId: string
  actions: Actions
  runs: Runs
  ref: Ref<HTMLElement>
}) {
  const { draft, types, readOnly } = useEditing()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const suggestions = useBlockSuggestions(blockId)
  if (!block) return null
  const type = types.get(block.type)
  return (
    <aside
      ref={ref}
      aria-label={`Block ${block.name}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        actions.focusNode(blockId)
      }}
      className="flex w-90 shrink-0 flex-col border-l border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-30 max-lg:max-w-full max-lg:shadow-popup max-md:w-full"
    >
      <header className="flex items-center gap-2.5 border-b border-line py-2.5 pr-2 pl-4">
        <BlockIcon type={block.type} />
        <div className="min-w-0 flex-1">
          <NameField
            label="Block name"
            name={block.name}
            readOnly={readOnly}
            onRename={(name) => draft.perform({ kind: 'rename', id: blockId, name })}
            errorOf={(name) => nameError(draft.state().document, blockId, name)}
            className="font-semibold"
          />
          <div className="truncate text-2xs text-muted">{type?.label ?? block.type}</div>
        </div>
        {!readOnly && (
          <Menu
            align="end"
            trigger={<IconButton label="Block actions" icon={<Ellipsis size={16} />} size="small" />}
            entries={[
              { label: 'Run only this block', icon: <Play size={14} />, onSelect: () => void runs.runOnly(blockId) },
              {
                label: 'Run up to this block',
                icon: <StepForward size={14} />,
                onSelect: () => void runs.runUntil(blockId),
              },
              {
                label: 'Run from this block',
                icon: <StepForward size={14} />,
                onSelect: () => void runs.runFrom(blockId),
              },
              'separator',
              { label: 'Duplicate', icon: <Copy size={14} />, keys: 'Mod+D', onSelect: actions.duplicate },
              {
                label: block.enabled === false ? 'Enable' : 'Disable',
                icon: <Power size={14} />,
                keys: 'D',
                onSelect: actions.toggle,
              },
              { label: 'Delete', icon: <Trash2 size={14} />, danger: true, onSelect: actions.remove },
            ]}
          />
        )}
        <IconButton label="Close" icon={<X size={16} />} size="small" onClick={() => draft.select([])} />
      </header>
      <Suggestions value={suggestions}>
        <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-4 pt-3 pb-10">
          {type?.description && (
            <p className="text-xs text-muted">
              {type.description} <DocsLink to={docsOfBlock(block.type)} />
            </p>
          )}
          <BlockFindings blockId={blockId} />
          <TriggerSection type={block.type} />
          <div data-first className="contents">
            <Form blockId={blockId} />
          </div>
          {!readOnly && !isTrigger(block) && (
            <div className="flex gap-2 border-t border-line pt-4">
              <Button size="small" icon={<Play size={13} />} onClick={() => void runs.runOnly(blockId)}>
                Run this block
              </Button>
              <Button size="small" icon={<StepForward size={13} />} onClick={() => void runs.runFrom(blockId)}>
                Run from here
              </Button>
            </div>
          )}
          <OutputList blockId={blockId} />
        </div>
      </Suggestions>
    </aside>
  )
}

function Form({ blockId }: { blockId: string }) {
  const { draft, types, readOnly } = useEditing()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const settings = useDraft(({ document }) => document.loops?.[blockId] ?? document.parallels?.[blockId])
  const findings = useFindings(blockId)
  const type = block && types.get(block.type)
  if (!block || !type)
    return (
      <p className="text-sm text-muted">
        This version of Millrace does not support this block type. Update Millrace or remove the block.
      </p>
    )
  const at = type?.container ? `.${blockId}` : `.${blockId}.params`
  const errorOf = (path: string, isWhole = false) =>
    findings.find((finding) => {
      const found = `.${finding.path.replaceAll(/\[(\w+)\]/g, '.$1')}.`
      return isWhole ? found.endsWith(`${at}.${path}.`) : found.includes(`${at}.${path}.`)
    })?.message
  if (type.container) {
    return (
      <ParameterForm
        schema={type.container.settings}
        modes={{}}
        params={(settings ?? {}) as Params}
        onSet={(name, value) =>
          draft.perform({ kind: 'container', id: blockId, settings: { [name]: value } }, `${blockId} ${name}`)
        }
        errorOf={errorOf}
        readOnly={readOnly}
      />
    )
  }
  return (
    <ParameterForm
      schema={type.parameters}
      modes={type.modes as Record<string, string>}
      params={(block.params ?? {}) as Params}
      onSet={(name, value) =>
        draft.perform({ kind: 'set', id: blockId, params: { [name]: value } }, `${blockId} ${name}`)
      }
      errorOf={errorOf}
      readOnly={readOnly}
      givenAtSave={type.givenAtSave}
      Tools={Tools}
    />
  )
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

function BlockFindings({ blockId }: { blockId: string }) {
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
