import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { findItems } from '../../parts/find.ts'
import { PickList } from '../../parts/pick-list.tsx'
import { connectorsQuery } from '../../shell/connectors-query.ts'
import { useWorkspace } from '../../shell/workspace.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import type { Params } from '../document/document.ts'
import { canAdd } from '../document/new-block.ts'
import { type BlockType, useDraft, useEditing } from '../editing.tsx'

/** A list of blocks to choose from, at a point on the page. */
export function QuickPalette({
  at,
  steps,
  onPick,
  onClose,
}: {
  at: { x: number; y: number }
  /** Excludes triggers, which accept no incoming connections. */
  steps: boolean
  onPick: (type: PickedBlock) => void
  onClose: () => void
}) {
  const isPicked = useRef(false)
  const left = Math.max(8, Math.min(at.x, innerWidth - width - 8))
  const top = Math.max(8, Math.min(at.y, innerHeight - height - 8))
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40" />
        <Dialog.Popup
          aria-label="Add block"
          // The added block takes the focus.
          finalFocus={() => !isPicked.current}
          style={{ left, top, width, maxHeight: height }}
          className="popup fixed z-50 flex flex-col overflow-hidden"
        >
          <Choices
            steps={steps}
            onPick={(type) => {
              isPicked.current = true
              onPick(type)
            }}
          />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

const width = 320
const height = 400

function Choices({ steps, onPick }: { steps: boolean; onPick: (type: PickedBlock) => void }) {
  const [typed, setTyped] = useState('')
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const possible = inGroups([...types.values()]).filter(
    ({ type }) => canAdd(document, type.type) && !(steps && type.kind === 'trigger'),
  )
  const found = findItems(possible, typed, ({ type }) => `${type.label} ${type.description}`)
  const operations = useOperations()
  const operationType = types.get('operation')
  const foundOperations =
    typed.trim() === '' || !operationType
      ? []
      : findItems(operations, typed, ({ service, label, description }) => `${service} ${label} ${description}`)
  return (
    <PickList
      label="Blocks"
      placeholder="Add a block…"
      icon={<Search size={15} aria-hidden="true" />}
      typed={typed}
      onType={setTyped}
      items={[
        ...found.map(({ type, group }) => ({
          id: type.type,
          label: type.label,
          description: type.description,
          group: typed.trim() === '' ? group : undefined,
          icon: <BlockIcon type={type.type} size="small" />,
          onPick: () => onPick(type),
        })),
        ...foundOperations.slice(0, operationsMax).map(({ connector, operation, service, label, description }) => ({
          id: `${connector} ${operation}`,
          label: `${service}: ${label}`,
          description,
          icon: <BlockIcon type="operation" size="small" />,
          onPick: () => operationType && onPick({ ...operationType, label, params: { connector, operation } }),
        })),
      ]}
      empty="No matching blocks or operations."
    />
  )
}

/** A block to add, with the parameters that it has from the start. */
export type PickedBlock = BlockType & { params?: Params }

/** Operations that the palette shows at most. */
const operationsMax = 30

/** The operations of all services. */
function useOperations() {
  const { id } = useWorkspace()
  const { data } = useQuery(connectorsQuery(id))
  return useMemo(
    () =>
      (data?.data ?? []).flatMap(({ id: connector, name, operations }) =>
        operations.map(({ id: operation, label, description }) => ({
          ...{ connector, operation, service: name, label, description: description ?? '' },
        })),
      ),
    [data],
  )
}

const groups: readonly { name: string; types: readonly string[] }[] = [
  {
    name: 'Steps',
    types: ['api', 'operation', 'mcp', 'email', 'function', 'agent', 'evaluator', 'guardrails', 'workflow', 'response'],
  },
  { name: 'Data', types: ['data', 'sql', 'redis', 's3', 'store', 'variables'] },
  { name: 'Pauses', types: ['wait', 'approval', 'wait_for_call'] },
  { name: 'Branches and loops', types: ['condition', 'router', 'loop', 'parallel'] },
  {
    name: 'Triggers',
    types: [
      ...['api_trigger', 'manual_trigger', 'webhook_trigger', 'schedule', 'poll_trigger', 'rss_trigger'],
      ...['chat_trigger', 'form_trigger', 'email_trigger', 'event_trigger'],
    ],
  },
]

/** Block types in palette order, each with its group; others come last. Only imports make placeholders. */
export function inGroups(types: readonly BlockType[]): { type: BlockType; group: string }[] {
  const named = groups.flatMap(({ name, types: names }) =>
    names.flatMap((wanted) => types.filter(({ type }) => type === wanted).map((type) => ({ type, group: name }))),
  )
  const rest = types.filter((type) => type.type !== 'placeholder' && !named.some((one) => one.type === type))
  return [...named, ...rest.map((type) => ({ type, group: 'More' }))]
}
