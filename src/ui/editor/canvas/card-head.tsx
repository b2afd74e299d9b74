import { CircleAlert, Pin } from 'lucide-react'
import { classes } from '../../parts/class-names.ts'
import type { Block } from '../document/document.ts'
import { useFindings } from '../findings.tsx'
import { usePin } from '../pins/pins.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { BlockIcon } from './block-icon.tsx'
import { RunMark } from './run-mark.tsx'

/** The top of a card: icon, name, problems and state in the run. After a run, it shows what the block gave. */
export function CardHead({ block, detail, run }: { block: Block; detail: string; run: BlockRun | undefined }) {
  const findings = useFindings(block.id)
  const isPinned = usePin(block.id) !== undefined
  const isOff = block.enabled === false
  const given = run?.status === 'success' ? run.glimpse?.text : undefined
  return (
    <div className="card-head flex h-14 items-center gap-2.5 overflow-hidden px-3">
      <BlockIcon type={block.type} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-1.5">
          <span className={classes('card-name', isOff && 'line-through')}>{block.name}</span>
          {isPinned && <Pin size={12} aria-label="Output pinned" className="shrink-0 text-accent-text" />}
          {findings.length > 0 && (
            <CircleAlert
              size={13}
              aria-label={findings.map(({ message }) => message).join(' ')}
              className={classes(
                'shrink-0',
                findings.some(({ level }) => level === 'error') ? 'text-error' : 'text-warn',
              )}
            />
          )}
        </div>
        <div title={given} className={classes('card-detail truncate text-2xs', given ? 'text-ok-text' : 'text-muted')}>
          {given ?? detail}
        </div>
      </div>
      <RunMark run={run} />
    </div>
  )
}

/** The outline of a card: selected, disabled, or its state in the run. */
export function cardLook(run: BlockRun | undefined, isSelected: boolean, isOff: boolean): string {
  return classes(
    isSelected && 'outline-2 outline-accent',
    isOff && 'opacity-55',
    run?.status === 'running' && 'running-card',
    run?.status === 'error' && !isSelected && 'outline-2 outline-error',
    run?.status === 'success' && !isSelected && 'outline-[1.5px] outline-ok',
  )
}
