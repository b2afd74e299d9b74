import { ChevronRight } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { own } from '../../../domain/edits/same-value.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import {
  type BlockChange,
  type Compared,
  type DocumentDiff,
  documentDiff,
  type EdgeChange,
  isSameDiff,
} from '../document/document-diff.ts'
import { maskedBlock } from '../document/masked-secrets.ts'
import { labelledValue, pathLabel } from '../document/parameter-label.ts'
import type { ValueChange } from '../document/value-changes.ts'
import { type BlockType, useEditing } from '../editing.tsx'
import { ValueDiff } from './value-diff.tsx'

/** The differences between two documents, with their values. Secrets are hidden. `none`: shown when there are none. */
export function DiffView({ before, after, none }: { before: Compared; after: Compared; none: string }) {
  const { types } = useEditing()
  const diff = useMemo(
    () => documentDiff(maskedDocument(before, types), maskedDocument(after, types)),
    [before, after, types],
  )
  const nameOf = (id: unknown) =>
    own(after.blocks, String(id))?.name ?? own(before.blocks, String(id))?.name ?? String(id)
  if (isSameDiff(diff)) return <p className="text-sm text-muted">{none}</p>
  return (
    <div className="@container flex flex-col gap-2">
      <p className="text-xs text-muted">{summaryOf(diff)}</p>
      <BlockList changes={diff.blocks} types={types} nameOf={nameOf} />
      {diff.edges.length > 0 && (
        <Part title="Connections">
          <EdgeList changes={diff.edges} />
        </Part>
      )}
      {diff.variables.length > 0 && (
        <Part title="Run variables">
          <ValueList values={diff.variables} labelOf={({ path }) => path.join(' › ')} />
        </Part>
      )}
      {diff.limits.length > 0 && (
        <Part title="Limits">
          <ValueList values={diff.limits} labelOf={({ path }) => limitLabels[path.join('.')] ?? path.join(' › ')} />
        </Part>
      )}
      {diff.mcp.length > 0 && (
        <Part title="Offer to assistants (MCP)">
          <ValueList values={diff.mcp} labelOf={({ path }) => exposureLabels[path.join('.')] ?? path.join(' › ')} />
        </Part>
      )}
    </div>
  )
}

function maskedDocument(document: Compared, types: ReadonlyMap<string, BlockType>): Compared {
  const blocks = Object.entries(document.blocks).map(([id, block]) => [id, maskedBlock(block, types)])
  return { ...document, blocks: Object.fromEntries(blocks) }
}

/** `1 block added, 2 blocks changed, 3 connections changed`. */
function summaryOf({ blocks, edges, variables, limits, mcp }: DocumentDiff): string {
  const kinds = Map.groupBy(blocks, ({ kind }) => kind)
  const parts = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
    const count = kinds.get(kind)?.length ?? 0
    return count === 0 ? [] : [`${countOf(count, 'block')} ${kind}`]
  })
  if (edges.length > 0) parts.push(`${countOf(edges.length, 'connection')} changed`)
  if (variables.length > 0) parts.push('run variables changed')
  if (limits.length > 0) parts.push('limits changed')
  if (mcp.length > 0) parts.push('offer to assistants changed')
  return parts.join(', ')
}

/** The labels of the limits in the workflow dialog, by path. */
const limitLabels: Readonly<Record<string, string>> = {
  timeoutMs: 'Time limit of a run (ms)',
  concurrency: 'Concurrent runs',
  'rate.count': 'Starts per window',
  'rate.windowMs': 'Window (ms)',
  'debounce.quietMs': 'Debounce: quiet time (ms)',
  'debounce.maxMs': 'Debounce: longest delay (ms)',
  key: 'Limit key',
  beyond: 'When a limit is reached',
  queueMax: 'Starts that may wait',
  priority: 'Priority',
}

const exposureLabels: Readonly<Record<string, string>> = {
  expose: 'Offered',
  name: 'Name of the tool',
  description: 'Description for the assistant',
}

const tones = { added: 'ok', removed: 'error', changed: 'accent' } as const
/** The blocks that are drawn at once. */
const blocksMax = 50

type ListProps = {
  changes: readonly BlockChange[]
  types: ReadonlyMap<string, BlockType>
  nameOf: (id: unknown) => string
}

function BlockList({ changes, types, nameOf }: ListProps) {
  const [shown, setShown] = useState(blocksMax)
  return (
    <>
      {changes.slice(0, shown).map((change) => (
        <BlockItem key={change.id} change={change} type={types.get(change.type)} nameOf={nameOf} />
      ))}
      {changes.length > shown && (
        <Button size="small" className="self-start" onClick={() => setShown(shown + blocksMax)}>
          Show {countOf(Math.min(blocksMax, changes.length - shown), 'more block')}
        </Button>
      )}
    </>
  )
}

function BlockItem({
  change,
  type,
  nameOf,
}: {
  change: BlockChange
  type: BlockType | undefined
  nameOf: ListProps['nameOf']
}) {
  const { kind, name, values } = change
  // The head says the name and the type of a block that was added or removed.
  const listed = kind === 'changed' ? values : values.filter(({ path }) => !headParts.has(path[0] ?? ''))
  const shown = listed.map((value) => {
    const wordsOf =
      value.path[0] === 'container'
        ? (one: unknown) => one && nameOf(one)
        : (one: unknown) => labelledValue(one, value.path.slice(1), settingsOf(value, type))
    return { ...value, before: wordsOf(value.before), after: wordsOf(value.after) }
  })
  return (
    <details open={kind !== 'removed'} className="group rounded-lg border border-line bg-surface">
      <summary className="flex cursor-default items-center gap-2 rounded-lg px-2.5 py-1.5 select-none hover:bg-hover">
        <ChevronRight
          size={14}
          aria-hidden="true"
          className="shrink-0 text-muted transition-transform group-open:rotate-90"
        />
        <BlockIcon type={change.type} size="small" />
        <span className="min-w-0 flex-1 truncate text-sm font-medium">{name}</span>
        <Badge tone={tones[kind]}>{kind}</Badge>
      </summary>
      <div className="border-t border-line px-3 py-2">
        {shown.length > 0 ? (
          <ValueList values={shown} labelOf={(value) => labelIn(value, type)} />
        ) : (
          <p className="text-xs text-muted">It has no parameters.</p>
        )}
      </div>
    </details>
  )
}

const headParts = new Set(['name', 'type', 'enabled'])

function labelIn(value: ValueChange, type: BlockType | undefined): string {
  const [part = '', ...rest] = value.path
  const isSetting = part === 'params' || part === 'loop' || part === 'parallel'
  return isSetting ? pathLabel(rest, settingsOf(value, type)) || 'Settings' : (partLabels[part] ?? part)
}

/** The parameters of a block, or the settings of a container, to which a value belongs. */
function settingsOf({ path: [part] }: ValueChange, type: BlockType | undefined) {
  if (part === 'params') return type?.parameters.properties
  return part === 'loop' || part === 'parallel' ? type?.container?.settings.properties : undefined
}

const partLabels: Readonly<Record<string, string>> = {
  name: 'Name',
  type: 'Type',
  enabled: 'Enabled',
  container: 'Container',
}

function ValueList({ values, labelOf }: { values: readonly ValueChange[]; labelOf: (value: ValueChange) => string }) {
  return (
    <dl className="flex flex-col gap-1.5">
      {values.map((value) => (
        <ValueDiff key={value.path.join('\n')} label={labelOf(value)} before={value.before} after={value.after} />
      ))}
    </dl>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="rounded-lg border border-line bg-surface px-3 py-2">
      <h4 className="mb-1.5 text-sm font-medium">{title}</h4>
      {children}
    </section>
  )
}

function EdgeList({ changes }: { changes: readonly EdgeChange[] }) {
  return (
    <ul className="flex flex-col gap-1">
      {changes.slice(0, edgesMax).map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two blocks may have several equal connections
        <li key={index} className="flex items-center gap-2 text-xs">
          <Badge tone={tones[change.kind]} className="w-18 justify-center">
            {change.kind}
          </Badge>
          <span className="min-w-0 break-words">
            {change.source}
            {change.port !== undefined && <span className="text-muted"> ({change.port})</span>} → {change.target}
          </span>
        </li>
      ))}
      {changes.length > edgesMax && <li className="text-xs text-muted">And {changes.length - edgesMax} more.</li>}
    </ul>
  )
}

const edgesMax = 200
