import { type NodeHandle, Position } from '@xyflow/react'
import { type Block, isContainer, isTrigger, portsOf } from '../document/document.ts'
import { branchHeight, headHeight, type Size, summaryHeight, titleMiddle } from './geometry.ts'

/** The diameter of a port. Its middle lies on the edge of the card. */
const portSize = 11

/** Where the start of a container is, inside it. */
export const startBox = { x: 12, y: 64, width: 64, height: 28 }

/** The width of the border of a container. Its ports are placed inside it. */
const borderWidth = 1.5

/**
 * The places of a block's ports. React Flow measures the ports of drawn blocks only, but a line may lead to a block
 * that is out of view.
 */
export function portPlaces(block: Block, { width, height }: Size): NodeHandle[] {
  const border = isContainer(block) ? borderWidth : 0
  const port = (
    id: string,
    type: NodeHandle['type'],
    position: Position,
    { x, y }: { x: number; y: number },
  ): NodeHandle => ({
    ...{ id, type, position, width: portSize, height: portSize },
    x: x - portSize / 2,
    y: y - portSize / 2,
  })
  const top = titleMiddle + border
  let branchTop = headHeight + (block.type === 'condition' ? 0 : summaryHeight)
  const ports = portsOf(block).map(({ handle, kind }) => {
    if (kind === 'error') return port(handle, 'source', Position.Bottom, { x: width / 2, y: height - border })
    if (kind === 'source') return port(handle, 'source', Position.Right, { x: width - border, y: top })
    if (kind === 'start') {
      const at = { x: border + startBox.x + startBox.width, y: border + startBox.y + startBox.height / 2 }
      return port(handle, 'source', Position.Right, at)
    }
    // The line above a branch belongs to its row.
    const middle = branchTop + (branchHeight + 1) / 2
    branchTop += branchHeight
    return port(handle, 'source', Position.Right, { x: width, y: middle })
  })
  return isTrigger(block) ? ports : [port('target', 'target', Position.Left, { x: border, y: top }), ...ports]
}
