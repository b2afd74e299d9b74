import { CircleAlert } from 'lucide-react'
import { classes } from '../../parts/class-names.ts'
import type { Block } from '../document/document.ts'
import { useFindings } from '../findings.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { BlockIcon } from './block-icon.tsx'
import { RunMark } from './run-mark.tsx'

/** The top of a card: icon, name, problems and state in the run. */
export function CardHead({ block, detail, run }: { block: Block; detail: string; run: BlockRun | undefined }) {
  const findings = useFindings(block.id)
  const isOff = block.enabled === false
  return (
    <div className="flex items-center gap-2.5 px-3 py-2.5">
      <BlockIcon type={block.type} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-1.5">
          <span className={classes('greeked truncate text-sm font-semibold', isOff && 'line-through')}>
            {block.name}
          </span>
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
        <div className="near-only truncate text-2xs text-muted">{detail}</div>
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
