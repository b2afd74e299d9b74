import type { Connector } from '../../../../domain/connector/connector.ts'
import { Field } from '../../../parts/field.tsx'
import { CredentialField } from '../choices/credential-field.tsx'

/** Selects the credential for a service, or creates one with what the service needs. */
export function OperationCredential({
  connector: { credentials: offers = [], name },
  value,
  onChange,
  readOnly,
  error,
}: {
  connector: Connector
  value: string
  onChange: (name: string | undefined) => void
  readOnly: boolean
  error: string | undefined
}) {
  const note = offers.find((offer) => offer.note !== undefined)?.note
  return (
    <Field label="Credential" error={error} optional={offers.length === 0} note={note}>
      {(tied) => (
        <CredentialField {...{ value, onChange, readOnly, tied, offers }} title={`New credential for ${name}`} />
      )}
    </Field>
  )
}
