import { useQuery } from '@tanstack/react-query'
import { connectorsQuery } from '../../shell/connectors-query.ts'
import { useWorkspace } from '../../shell/workspace.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { useEditing } from '../editing.tsx'
import type { PickedBlock } from './quick-palette.tsx'

/** The services that a workflow can call. A click adds a block, whose form asks for the operation. */
export function Services({ onPick }: { onPick: (type: PickedBlock) => void }) {
  const { id } = useWorkspace()
  const { types } = useEditing()
  const { data } = useQuery(connectorsQuery(id))
  const type = types.get('operation')
  const services = data?.data ?? []
  if (!type || services.length === 0) return null
  return (
    <>
      <h3 className="px-1.5 pt-2.5 pb-1 text-2xs font-medium text-muted">Services</h3>
      {services.map(({ id: connector, name, operations }) => (
        <button
          key={connector}
          type="button"
          title={operations.map(({ label }) => label).join(', ')}
          onClick={() => onPick({ ...type, label: name, params: { connector, operation: '' } })}
          className="flex h-8 w-full items-center gap-2 rounded-md px-1.5 text-left text-sm hover:bg-hover"
        >
          <BlockIcon type="operation" size="small" />
          <span className="truncate">{name}</span>
        </button>
      ))}
    </>
  )
}
