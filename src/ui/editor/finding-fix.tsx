import { Button } from '../parts/button.tsx'
import type { Params } from './document/document.ts'
import { valueAt, withValueAt } from './document/value-at.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { Finding } from './findings.tsx'
import { useCreateVariable } from './variable-creator.tsx'

/** Whether a new environment variable solves a problem. */
export function needsVariable({ code }: Finding): boolean {
  return code === 'UNSET_VARIABLE' || code === 'WRITTEN_SECRET'
}

/** The button that solves a problem by creating an environment variable; nothing for other problems. */
export function FindingFix({ finding }: { finding: Finding }) {
  const { draft, readOnly } = useEditing()
  const createVariable = useCreateVariable()
  const params = useDraft(({ document }) => document.blocks[finding.blockId ?? '']?.params)
  // The message ends with an example of the name for a secret, and names the variable that is not set.
  const name = /\{\{(\w+)\}\}/.exec(finding.message)?.[1]
  if (readOnly || !needsVariable(finding) || name === undefined) return null
  if (finding.code === 'UNSET_VARIABLE') {
    return (
      <Button size="small" onClick={() => createVariable({ name })}>
        Create {name}
      </Button>
    )
  }
  const path = parameterPath(finding)
  const written = valueAt(params, path)
  if (typeof written !== 'string') return null
  const [, scheme = '', value = ''] = /^((?:Bearer|Basic|Token|ApiKey|Digest)\s+)?(.*)$/is.exec(written) ?? []
  const replace = (created: string) => {
    const { blockId: id } = finding
    const [member = ''] = path
    const current = id === null ? undefined : draft.state().document.blocks[id]?.params
    // The user cannot have changed the value while the dialog is open, but somebody else may have.
    if (id === null || valueAt(current, path) !== written) return
    const next = withValueAt(current, path, `${scheme}{{${created}}}`) as Params
    draft.perform({ kind: 'set', id, params: { [member]: next[member] } })
  }
  return (
    <Button size="small" onClick={() => createVariable({ name, value, onCreated: replace })}>
      Save it as an environment variable
    </Button>
  )
}

/** The members that lead to a problem, below the parameters of its block. */
export function parameterPath({ path, blockId }: Finding): string[] {
  const start = `blocks.${blockId}.params.`
  return path.startsWith(start) ? path.slice(start.length).split('.') : []
}

/** Problems of a parameter that a variable solves: a note below the field instead of an error. */
export function VariableNotes({ findings }: { findings: readonly Finding[] }) {
  return findings.map((finding) => (
    <div
      key={`${finding.path} ${finding.code} ${finding.message}`}
      role="note"
      className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1.5 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-warn-text"
    >
      <span className="min-w-40 flex-1 break-words">
        {finding.code === 'WRITTEN_SECRET'
          ? 'This secret is part of the workflow: everyone who may edit or export it can read it.'
          : finding.message}
      </span>
      <FindingFix finding={finding} />
    </div>
  ))
}
