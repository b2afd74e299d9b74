import { classes } from '../../parts/class-names.ts'
import { type Block, isContainer } from '../document/document.ts'
import { BlockVisitors } from '../together/block-visitors.tsx'
import { kindOf, typeIcon } from './block-icon.tsx'
import type { Size } from './geometry.ts'
import { portPlaces } from './port-places.ts'
import { useBlockRun } from './run-mark.tsx'
import { WaitingMark } from './waiting-mark.tsx'

/** A block on a small canvas: its icon and its name, as large as possible, in the colour of its kind. */
export function CompactCard({ block, size, selected }: { block: Block; size: Size; selected: boolean }) {
  const run = useBlockRun(block.id)
  const Icon = typeIcon(block.type)
  const isOff = block.enabled === false
  return (
    <div
      title={block.name}
      data-kind={kindOf(block.type)}
      data-run={run?.status}
      style={isContainer(block) ? undefined : { height: size.height }}
      className={classes(
        'compact-card relative',
        isContainer(block) ? 'container-card' : 'w-56',
        selected && 'compact-selected',
        isOff && 'opacity-55',
      )}
    >
      <Icon aria-hidden="true" className="size-[1.1em] shrink-0" strokeWidth={2} />
      <span className={classes('card-name', isOff && 'line-through')}>{block.name}</span>
      <BlockVisitors blockId={block.id} />
      <WaitingMark block={block} compact />
      {/* React Flow draws lines only between elements like these. Its own are far slower, and are for connecting. */}
      {portPlaces(block, size).map(({ id, type, position, x, y }) => (
        <span
          key={id}
          data-handleid={id}
          data-handlepos={position}
          className={`react-flow__handle ${type} invisible size-[11px]! transform-none!`}
          style={{ left: x, top: y }}
        />
      ))}
    </div>
  )
}
