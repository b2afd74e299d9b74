import { Undo2 } from 'lucide-react'
import { useMemo } from 'react'
import { countOf } from '../../parts/amount-text.ts'
import { Button } from '../../parts/button.tsx'
import { DiffView } from '../diff/diff-view.tsx'
import { applyEdit } from '../document/edit.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { useAssistant } from './assistant-context.tsx'
import type { Proposal } from './conversation.ts'

/** The changes that the assistant proposes, compared with the draft. */
export function ProposalView({ proposal, at }: { proposal: Proposal; at: number }) {
  const { changes, outcome, errors } = proposal
  const { conversation } = useAssistant()!
  const { draft } = useEditing()
  const document = useDraft((state) => state.document)
  const after = useMemo(() => applyEdit(document, { kind: 'change', changes }), [document, changes])
  if (outcome === 'discarded') return <p className="text-xs text-muted">Discarded.</p>
  if (outcome === 'applied') {
    return (
      <div className="flex items-center gap-2 text-xs text-muted">
        <span>Applied to the draft.</span>
        {document === proposal.applied && (
          <Button size="small" icon={<Undo2 size={13} />} onClick={() => draft.undo()}>
            Undo
          </Button>
        )}
      </div>
    )
  }
  return (
    <section aria-label="Proposed changes" className="flex flex-col gap-2 rounded-lg border border-line p-2.5">
      <h3 className="text-xs font-semibold">Proposed changes</h3>
      <DiffView
        before={document}
        after={after}
        none="The draft already has these changes, or they do not affect runs."
      />
      {errors > 0 && (
        <p className="text-xs text-warn-text">The workflow will still have {countOf(errors, 'problem')}.</p>
      )}
      <div className="flex gap-2">
        <Button look="primary" size="small" onClick={() => conversation.apply(at)}>
          Apply
        </Button>
        <Button size="small" onClick={() => conversation.discard(at)}>
          Discard
        </Button>
      </div>
    </section>
  )
}
