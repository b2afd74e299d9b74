import { Handle, Position } from '@xyflow/react'
import { createContext, useContext } from 'react'
import { classes } from '../parts/class-names.ts'
import type { Port } from './document.ts'
import { useDraft } from './editing.tsx'

/** What a click on a way out does: it offers what could come next. */
export const PortClick = createContext<(from: { source: string; sourceHandle: string }, element: HTMLElement) => void>(
  () => undefined,
)

/** A way out of a block: dragged to another one, or clicked to choose what comes next. */
export function PortHandle({ blockId, port, className }: { blockId: string; port: Port; className?: string }) {
  const onPort = useContext(PortClick)
  const isError = port.kind === 'error'
  // One look at the draft for both: there are a thousand ports on a large canvas.
  const look = useDraft(({ usedPorts, document }) => {
    const isUsed = usedPorts.has(`${blockId} ${port.handle}`)
    // A response ends the run: what is behind it is drawn, and not offered.
    const isLast = document.blocks[blockId]?.type === 'response' && !isError
    return classes(isLast && 'port-last', isUsed && 'port-used')
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

/** The ways out that stand at the edge of a card: what comes next, and what comes when it fails. */
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
