import { Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog, DialogBody } from '../parts/dialog.tsx'
import { Field, Input, Select, TextArea } from '../parts/field.tsx'
import { textOf } from './canvas/block-summary.ts'
import type { Variables } from './document/document.ts'
import { useDraft, useEditing } from './editing.tsx'
import { WorkflowLimits } from './workflow-limits.tsx'

/** Edits the description, variables and limits of the workflow. */
export function WorkflowDialog({ onClose }: { onClose: () => void }) {
  const { draft, readOnly } = useEditing()
  const { description, variables = {} } = useDraft((state) => state.document)
  const list = Object.entries(variables)
  const put = (next: [string, Variables[string]][], merge?: string) =>
    draft.perform({ kind: 'variables', variables: Object.fromEntries(next) }, merge)
  const change = (at: number, name: string, variable: Variables[string]) =>
    put(
      list.map((one, index) => (index === at ? [name, variable] : one)),
      `variable ${at}`,
    )
  return (
    <Dialog onClose={onClose} title="Description, run variables and limits">
      <DialogBody>
        <Field label="Description" optional>
          {(tied) => (
            <TextArea
              {...tied}
              value={description ?? ''}
              readOnly={readOnly}
              maxLength={10_000}
              placeholder="What this workflow does and who calls it"
              onChange={(event) =>
                draft.perform({ kind: 'describe', description: event.target.value }, 'workflow description')
              }
            />
          )}
        </Field>
        <fieldset className="flex flex-col gap-1.5">
          <legend className="mb-1 text-xs font-medium">Run variables</legend>
          <p className="mb-1 text-xs text-muted">
            Every run starts with these values, and Variables blocks change them for the rest of the run. Read them with{' '}
            <code>{'<variable.name>'}</code>.
          </p>
          {list.map(([name, variable], at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: variables are identified by position
            <div key={at} className="flex gap-1.5">
              <Input
                aria-label={`Name of variable ${at + 1}`}
                value={name}
                readOnly={readOnly}
                onChange={(event) => {
                  const next = event.target.value
                  if (next === name || !list.some(([other]) => other === next)) change(at, next, variable)
                }}
                className="max-w-40"
              />
              <Select
                aria-label={`Type of variable ${at + 1}`}
                value={variable.type ?? 'string'}
                disabled={readOnly}
                options={types}
                onChange={(event) => change(at, name, { ...variable, type: event.target.value })}
                className="max-w-28"
              />
              <Input
                aria-label={`Value of variable ${at + 1}`}
                placeholder="Value"
                value={textOf(variable.value)}
                readOnly={readOnly}
                onChange={(event) => change(at, name, { ...variable, value: typed(event.target.value, variable.type) })}
              />
              {!readOnly && (
                <IconButton
                  label="Remove variable"
                  icon={<Trash2 size={14} />}
                  onClick={() => put(list.filter((_, index) => index !== at))}
                />
              )}
            </div>
          ))}
          {!readOnly && (
            <Button
              size="small"
              look="quiet"
              icon={<Plus size={14} />}
              className="self-start"
              onClick={() => put([...list, [freeName(variables), { type: 'string', value: '' }]])}
            >
              Add run variable
            </Button>
          )}
        </fieldset>
        <WorkflowLimits />
      </DialogBody>
    </Dialog>
  )
}

const types = ['string', 'number', 'boolean', 'object', 'array'].map((type) => ({ value: type, label: type }))

function freeName(variables: Variables): string {
  for (let number = Object.keys(variables).length + 1; ; number += 1) {
    if (!Object.hasOwn(variables, `variable${number}`)) return `variable${number}`
  }
}

/** Parses text as a value of a type. Returns the text while it is not valid. */
function typed(text: string, type: string | undefined): unknown {
  if (type === undefined || type === 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
