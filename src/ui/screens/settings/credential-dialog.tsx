import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CredentialOffer } from '../../../domain/connector/connector.ts'
import {
  type CredentialKindName,
  type CredentialPart,
  credentialKind,
  credentialKindNames,
  hasOwnHost,
} from '../../../domain/credential/kinds.ts'
import { call, type ResponseOf } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, Input, SelectField, TextArea, TextField } from '../../parts/field.tsx'
import { credentialsQuery } from '../../shell/credentials-query.ts'

type Known = {
  name: string
  kind: CredentialKindName
  hosts: readonly string[]
  fields: Readonly<Record<string, unknown>>
  secrets: readonly string[]
}

type Saved = ResponseOf<'GET /api/workspaces/:id/credentials/:name'>

type Offer = Pick<CredentialOffer, 'kind' | 'label' | 'hosts' | 'fields'>

const kinds = credentialKindNames.map((value) => ({ value, label: credentialKind(value)?.label ?? value }))

/** The kinds that fit come first, under the names that the service has for them. */
function kindOptions(offers: readonly Offer[]) {
  const offered = offers.map(({ kind, label }) => ({
    value: kind,
    label: label ?? credentialKind(kind)?.label ?? kind,
  }))
  return [...offered, ...kinds.filter(({ value }) => !offered.some((each) => each.value === value))]
}

/** Creates a credential, or changes one. Secrets that are left empty stay as they are. */
export function CredentialDialog({
  workspaceId,
  credential,
  offers = [],
  title = 'New credential',
  named = '',
  onClose,
  onSaved,
}: {
  workspaceId: string
  /** The credential to change; absent for a new one. */
  credential: Known | undefined
  onClose: () => void
  /** The kinds that fit a service, with the values of a new credential. The first one is chosen. */
  offers?: readonly Offer[]
  title?: string
  /** The suggested name of a new credential. */
  named?: string
  onSaved?: (saved: Saved) => void
}) {
  const queries = useQueryClient()
  const [name, setName] = useState(credential?.name ?? named)
  const [first] = offers
  const [kind, setKind] = useState<CredentialKindName>(credential?.kind ?? first?.kind ?? 'bearer')
  const [hosts, setHosts] = useState((credential?.hosts ?? first?.hosts ?? []).join(', '))
  const [fields, setFields] = useState<Readonly<Record<string, unknown>>>(credential?.fields ?? first?.fields ?? {})
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({})
  const parts = credentialKind(kind)
  // A private authority and an address of its own are rare, so they come last.
  const { authority, baseUrl, ...own } = parts?.fields ?? {}
  const isUsed = ({ when }: CredentialPart) => !when || when.is.includes(String(fields[when.field] ?? when.is[0]))
  // An object of texts is kept as it is; only the API and the command line change it.
  const shown = Object.entries(own).filter(([, shape]) => !shape.isTexts && isUsed(shape))
  const kept = credential?.kind === kind ? credential.secrets : []
  const save = async () => {
    const body = {
      ...{
        name: name.trim(),
        kind,
        hosts: (hasOwnHost(kind) ? '' : hosts)
          .split(',')
          .map((host) => host.trim())
          .filter((host) => host !== ''),
      },
      fields: chosen(withChoices(fields, own), parts?.fields),
      secrets: chosen(secrets, parts?.secrets) as Record<string, string>,
    }
    const saved = credential
      ? await call('PATCH /api/workspaces/:id/credentials/:name', {
          params: { id: workspaceId, name: credential.name },
          body,
        })
      : await call('POST /api/workspaces/:id/credentials', { params: { id: workspaceId }, body })
    await queries.invalidateQueries(credentialsQuery(workspaceId))
    onClose()
    onSaved?.(saved)
  }
  return (
    <FormDialog
      title={credential ? `Change ${credential.name}` : title}
      submit={credential ? 'Save' : 'Create credential'}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField
        label="Name"
        note="Letters, digits, - and _. Blocks use this name."
        required
        autoFocus={!credential}
        pattern="[A-Za-z0-9_\-]+"
        maxLength={64}
        className="font-mono"
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Kind"
        value={kind}
        options={kindOptions(offers)}
        onChange={(next) => {
          setKind(next)
          const offer = offers.find((each) => each.kind === next)
          if (!offer) return
          setFields(offer.fields ?? {})
          if (offer.hosts) setHosts(offer.hosts.join(', '))
        }}
      />
      {!hasOwnHost(kind) && (
        <TextField
          label="Hosts"
          note={
            parts?.hostsFrom === undefined
              ? 'Where it may be sent, separated by commas: api.example.com, *.example.com'
              : 'Where it may be sent, separated by commas. Leave it empty for the host of the server.'
          }
          required={parts?.hostsFrom === undefined}
          optional={parts?.hostsFrom !== undefined}
          value={hosts}
          onChange={setHosts}
        />
      )}
      {shown.map(([part, shape]) => (
        <PartField
          key={part}
          shape={shape}
          value={String(fields[part] ?? '')}
          onChange={(text) => setFields({ ...fields, [part]: text })}
        />
      ))}
      {Object.entries(parts?.secrets ?? {}).map(
        ([part, shape]) =>
          isUsed(shape) && (
            <PartField
              key={part}
              shape={kept.includes(part) ? { ...shape, isRequired: undefined } : shape}
              note={kept.includes(part) ? 'A value is stored. Leave this empty to keep it.' : undefined}
              isSecret
              value={secrets[part] ?? ''}
              onChange={(text) => setSecrets({ ...secrets, [part]: text })}
            />
          ),
      )}
      {Object.entries({ baseUrl, authority }).map(
        ([part, shape]) =>
          shape && (
            <PartField
              key={part}
              shape={shape}
              value={String(fields[part] ?? '')}
              onChange={(text) => setFields({ ...fields, [part]: text })}
            />
          ),
      )}
    </FormDialog>
  )
}

function PartField({
  shape: { label, description, isRequired, isLong, choices, default: usual },
  note,
  isSecret = false,
  value,
  onChange,
}: {
  shape: Omit<CredentialPart, 'isRequired'> & { isRequired?: true | undefined }
  note?: string | undefined
  isSecret?: boolean
  value: string
  onChange: (text: string) => void
}) {
  const control = {
    required: isRequired === true,
    autoComplete: 'off',
    spellCheck: false,
    className: 'font-mono',
    value,
  }
  if (choices) {
    const options = choices.map((choice) => ({ value: choice, label: choice }))
    return (
      <SelectField label={label} value={value || (usual ?? choices[0] ?? '')} options={options} onChange={onChange} />
    )
  }
  return (
    <Field label={label} note={note ?? description} optional={!isRequired && !note && usual === undefined}>
      {(tied) =>
        isLong ? (
          <TextArea {...tied} {...control} rows={3} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <Input
            {...tied}
            {...control}
            type={isSecret ? 'password' : 'text'}
            placeholder={usual}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  )
}

/** A required choice shows its first value, so that is the value until another one is chosen. */
function withChoices(
  values: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, CredentialPart>>,
): Record<string, unknown> {
  const first = Object.entries(parts).flatMap(([name, { choices, isRequired }]) =>
    choices && isRequired ? [[name, choices[0]] as const] : [],
  )
  return { ...Object.fromEntries(first), ...values }
}

/** The parts of the chosen kind that have a value. */
function chosen(
  values: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, CredentialPart>> = {},
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => Object.hasOwn(parts, name) && value !== ''),
  )
}
