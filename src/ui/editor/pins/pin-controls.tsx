import { Pencil, Pin, PinOff } from 'lucide-react'
import { Badge } from '../../parts/badge.tsx'
import { Button, IconButton } from '../../parts/button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import type { RunSpan } from '../run/run-event.ts'
import { emptyOutput } from './output-text.ts'
import { usePins } from './pins.tsx'

/** Pins the shown output of a block, or one that the author writes. */
export function PinControls({ blockId, span }: { blockId: string; span: RunSpan | undefined }) {
  const { types, readOnly } = useEditing()
  const pins = usePins()
  const type = useDraft(({ document }) => document.blocks[blockId]?.type ?? '')
  const pinned = pins.outputs.get(blockId)
  if (type === 'response') return null
  if (pinned) {
    return (
      <>
        <Badge tone="accent">
          <Pin size={11} aria-hidden="true" />
          Pinned
        </Badge>
        {!readOnly && (
          <>
            <IconButton
              label="Edit the pinned output"
              icon={<Pencil size={13} />}
              size="small"
              onClick={() => pins.edit(blockId, pinned)}
            />
            <IconButton
              label="Unpin"
              keys="P"
              icon={<PinOff size={13} />}
              size="small"
              onClick={() => void pins.unpin(blockId)}
            />
          </>
        )}
      </>
    )
  }
  if (readOnly) return null
  const output = pinnableOutput(span)
  return output ? (
    <>
      <IconButton
        label="Edit and pin the output"
        icon={<Pencil size={13} />}
        size="small"
        onClick={() => pins.edit(blockId, output)}
      />
      <Button size="small" look="quiet" icon={<Pin size={13} />} onClick={() => void pins.pin(blockId, output)}>
        Pin
      </Button>
    </>
  ) : (
    <Button
      size="small"
      look="quiet"
      icon={<Pin size={13} />}
      onClick={() => pins.edit(blockId, emptyOutput(types.get(type)?.outputs ?? []))}
    >
      Write and pin
    </Button>
  )
}

/** The pinned output, where the output of a run would be. */
export function PinnedOutput({ blockId }: { blockId: string }) {
  const pinned = usePins().outputs.get(blockId)
  if (!pinned) return null
  return (
    <>
      <p className="text-xs text-muted">
        Runs of the draft use this output instead of running the block. Deployed versions run it.
      </p>
      <JsonView label="Pinned output" value={pinned} openDepth={2} />
    </>
  )
}

/** The output of a pass that has one. */
export function pinnableOutput(span: RunSpan | undefined): Record<string, unknown> | undefined {
  if (span?.status !== 'success') return undefined
  const { output } = span
  return typeof output === 'object' && output !== null && !Array.isArray(output)
    ? (output as Record<string, unknown>)
    : undefined
}
