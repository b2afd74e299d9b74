import { Handle, Position } from '@xyflow/react'
import { createContext, useContext } from 'react'
import { classes } from '../../parts/class-names.ts'
import type { Port } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'

/** Called when an output port is clicked; offers the next block. */
export const PortClick = createContext<(from: { source: string; sourceHandle: string }, element: HTMLElement) => void>(
  () => undefined,
)

/** An output port. Drag it to another block, or click it to choose the next one. */
export function PortHandle({ blockId, port, className }: { blockId: string; port: Port; className?: string }) {
  const onPort = useContext(PortClick)
  const { readOnly } = useEditing()
  const isError = port.kind === 'error'
  // One subscription for both flags, because a large canvas has a thousand ports.
  const look = useDraft(({ usedPorts, document }) => {
    const isUsed = usedPorts.has(`${blockId} ${port.handle}`)
    // A response block ends the run, so its output port is dimmed.
    const isLast = document.blocks[blockId]?.type === 'response' && !isError
    if (isUsed) return 'port-used'
    if (isLast) return 'port-last'
    if (isError || readOnly) return ''
    // The outputs of a block that leads nowhere always show a plus, the others on hover.
    const isEnd = port.kind === 'start' || !usedPorts.has(`${blockId} `)
    return classes('port-open', isEnd && 'port-end')
  })
  return (
    <Handle
      type="source"
      id={port.handle}
      position={isError ? Position.Bottom : Position.Right}
      title={isError ? 'On error' : port.kind === 'start' ? 'First block inside' : 'Next block'}
      onClick={(event) => onPort({ source: blockId, sourceHandle: port.handle }, event.currentTarget)}
      className={classes('port', isError && 'port-error', look, className)}
    />
  )
}

/** The output ports at the edge of a card: next and on error. */
export function OutputPorts({ blockId, ports }: { blockId: string; ports: readonly Port[] }) {
  return ports.map(
    (port) =>
      (port.kind === 'source' || port.kind === 'error') && (
        <PortHandle
          key={port.handle}
          blockId={blockId}
          port={port}
          {...(port.kind === 'source' ? { className: 'top-6.5!' } : {})}
        />
      ),
  )
}
