import type { Toast } from '../../../parts/toast.tsx'
import type { Draft } from '../../save/draft.ts'

/**
 * Blocks were moved into a new, deployed workflow, which `caller` calls. When the user undoes the move, that workflow
 * stays: this says so, and offers to delete it. A redo takes the offer back.
 */
export function offerToDelete(
  draft: Pick<Draft, 'state' | 'watch'>,
  { caller, name, remove }: { caller: string; name: string; remove: () => Promise<void> },
  toast: { show(toast: Toast): void; dismiss(key: string): void; fail(error: unknown): void },
): void {
  const key = `undone ${caller}`
  let { jumps } = draft.state()
  let isThere = true
  const stop = draft.watch(() => {
    const state = draft.state()
    const isUndoOrRedo = state.jumps !== jumps
    const was = isThere
    jumps = state.jumps
    isThere = state.document.blocks[caller] !== undefined
    if (isThere && !was) toast.dismiss(key)
    if (isThere || !was || !isUndoOrRedo) return
    const run = () => {
      stop()
      remove().catch(toast.fail)
    }
    const text = `The blocks are back. The workflow “${name}” is still there, and deployed.`
    toast.show({ text, key, action: { label: 'Delete it', run } })
  })
}
