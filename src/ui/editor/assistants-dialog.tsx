import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { hasToolTrigger, toolNameCharsMax, toolNameOf, toolNamePattern } from '../../domain/workflow/tool-name.ts'
import { useMe } from '../api/session.ts'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog, DialogBody } from '../parts/dialog.tsx'
import { DocsLink, docs } from '../parts/docs-link.tsx'
import { Field, Input, TextArea } from '../parts/field.tsx'
import { Switch } from '../parts/switch.tsx'
import type { Exposure } from './document/document.ts'
import { useDraft, useEditing } from './editing.tsx'

/** Offers the workflow to assistants as a tool. */
export function AssistantsDialog({ onClose }: { onClose: () => void }) {
  const { draft, readOnly, workspaceId } = useEditing()
  const { baseUrl } = useMe().service
  const { blocks, mcp } = useDraft((state) => state.document)
  const isOffered = mcp?.expose === true
  const hasTrigger = hasToolTrigger({ blocks })
  const change = (members: { [Name in keyof Exposure]?: Exposure[Name] | undefined }) => {
    const { expose = false, ...texts } = { ...mcp, ...members }
    const kept = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined))
    const next = expose || Object.keys(kept).length > 0 ? { expose, ...kept } : undefined
    draft.perform({ kind: 'mcp', mcp: next }, `assistants ${Object.keys(members).join(' ')}`)
  }
  return (
    <Dialog
      onClose={onClose}
      title="Offer to assistants (MCP)"
      description="An assistant can call the deployed workflow as a tool of the Model Context Protocol."
    >
      <DialogBody>
        <Switch
          label="Offer this workflow as a tool"
          checked={isOffered}
          disabled={readOnly}
          onChange={(expose) => change({ expose })}
        />
        {isOffered && !hasTrigger && (
          <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn-text">
            <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden="true" />
            Assistants cannot call it yet: add an API trigger, whose input fields become the arguments of the tool.
          </p>
        )}
        {isOffered && (
          <>
            <NameField name={mcp.name} readOnly={readOnly} onChange={(name) => change({ name })} />
            <DescriptionField
              description={mcp.description}
              readOnly={readOnly}
              onChange={(description) => change({ description })}
            />
            <CopyField
              label="Address for assistants"
              note="The assistant signs in at this address, or sends an API key as a bearer token. Deploy to apply changes."
              value={`${baseUrl || location.origin}/mcp/${workspaceId}`}
            />
          </>
        )}
        <DocsLink to={docs.tools}>How assistants call workflows</DocsLink>
      </DialogBody>
    </Dialog>
  )
}

type TextProps<Name extends string> = { [Key in Name]: string | undefined } & {
  readOnly: boolean
  onChange: (value: string | undefined) => void
}

/** A name that the service would reject stays in the field and shows its problem. */
function NameField({ name, readOnly, onChange }: TextProps<'name'>) {
  const workflow = useDraft(({ document }) => document.name)
  const [typed, setTyped] = useState<string>()
  const change = (next: string) => {
    const isValid = next === '' || (next.length <= toolNameCharsMax && new RegExp(toolNamePattern).test(next))
    setTyped(isValid ? undefined : next)
    if (isValid) onChange(next === '' ? undefined : next)
  }
  return (
    <Field
      label="Name of the tool"
      optional
      note="If empty, it is made from the name of the workflow."
      error={typed === undefined ? undefined : `Use 1 to ${toolNameCharsMax} letters, digits, "-" and "_".`}
    >
      {(tied) => (
        <Input
          {...tied}
          className="max-w-80 font-mono"
          value={typed ?? name ?? ''}
          placeholder={toolNameOf(workflow)}
          readOnly={readOnly}
          onChange={(event) => change(event.target.value.trim())}
        />
      )}
    </Field>
  )
}

function DescriptionField({ description, readOnly, onChange }: TextProps<'description'>) {
  const workflow = useDraft(({ document }) => document.description)
  return (
    <Field
      label="Description for the assistant"
      optional
      note="Says when to use the tool, and what it returns. If empty, the description of the workflow is used."
    >
      {(tied) => (
        <TextArea
          {...tied}
          value={description ?? ''}
          placeholder={workflow ?? ''}
          maxLength={2_000}
          readOnly={readOnly}
          onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
        />
      )}
    </Field>
  )
}
