import { useQuery } from '@tanstack/react-query'
import { ArrowRight } from 'lucide-react'
import { Select } from '../../parts/field.tsx'
import { ErrorNote, Loading } from '../../parts/states.tsx'
import { DiffView } from '../diff/diff-view.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import { type Version, versionDocumentQuery } from './version-queries.ts'

/** A version, or the draft. */
export type Side = number | 'draft'

/** Compares any two versions, or a version with the draft. */
export function CompareView({
  versions,
  before,
  after,
  onChange,
}: {
  versions: readonly Version[]
  before: Side
  after: Side
  onChange: (sides: { before: Side; after: Side }) => void
}) {
  const [old, now] = [useSide(before), useSide(after)]
  const options = [
    { value: 'draft', label: 'Draft' },
    ...versions.map(({ version, name, isActive }) => ({
      value: String(version),
      label: `v${version}${name ? ` ${name}` : ''}${isActive ? ' (live)' : ''}`,
    })),
  ]
  const pick = (label: string, side: Side, choose: (side: Side) => void) => (
    <Select
      aria-label={label}
      value={String(side)}
      options={options}
      onChange={({ target: { value } }) => choose(value === 'draft' ? value : Number(value))}
      className="max-w-56 min-w-0"
    />
  )
  return (
    <section aria-label="Comparison" className="flex flex-col gap-3 px-5 pt-2 pb-5">
      <div className="flex items-center gap-2">
        {pick('From', before, (side) => onChange({ before: side, after }))}
        <ArrowRight size={15} aria-hidden="true" className="shrink-0 text-muted" />
        {pick('To', after, (side) => onChange({ before, after: side }))}
      </div>
      <ErrorNote error={old.error ?? now.error} />
      {old.document && now.document ? (
        <DiffView before={old.document} after={now.document} none="No differences that affect runs." />
      ) : (
        !old.error && !now.error && <Loading lines={4} />
      )}
    </section>
  )
}

function useSide(side: Side) {
  const { workflowId } = useEditing()
  const draft = useDraft((state) => state.document)
  const { data, error } = useQuery(versionDocumentQuery(workflowId, side === 'draft' ? null : side))
  return { document: side === 'draft' ? draft : data, error }
}
