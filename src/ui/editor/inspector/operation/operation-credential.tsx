import { Plus } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { Connector } from '../../../../domain/connector/connector.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { useMayWrite, useWorkspace } from '../../../shell/workspace.tsx'
import { CredentialSelect } from '../choices/credential-select.tsx'

// Loaded on demand: most visits create no credential.
const CredentialDialog = lazy(async () => ({
  default: (await import('../../../screens/settings/credential-dialog.tsx')).CredentialDialog,
}))
const CredentialSignIn = lazy(async () => ({
  default: (await import('../../../screens/settings/credential-sign-in.tsx')).CredentialSignIn,
}))

/** Selects the credential for a service, or creates one with what the service needs. */
export function OperationCredential({
  connector,
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
  const { id } = useWorkspace()
  const mayWrite = useMayWrite()
  const [isNew, setIsNew] = useState(false)
  const [signingIn, setSigningIn] = useState<{ name: string; kind: string }>()
  const { credentials: offers = [], name } = connector
  return (
    <>
      <Field label="Credential" error={error} optional={offers.length === 0} note={noteOf(connector)}>
        {(tied) => (
          <span className="flex gap-2">
            <span className="min-w-0 flex-1">
              <CredentialSelect value={value} onChange={onChange} readOnly={readOnly} tied={tied} />
            </span>
            {mayWrite && !readOnly && (
              <Button icon={<Plus size={14} aria-hidden="true" />} onClick={() => setIsNew(true)}>
                New
              </Button>
            )}
          </span>
        )}
      </Field>
      <Suspense>
        {isNew && (
          <CredentialDialog
            workspaceId={id}
            credential={undefined}
            offers={offers}
            title={`New credential for ${name}`}
            onClose={() => setIsNew(false)}
            onSaved={(saved) => {
              onChange(saved.name)
              if (saved.state === 'needs_sign_in') setSigningIn(saved)
            }}
          />
        )}
        {signingIn && (
          <CredentialSignIn workspaceId={id} credential={signingIn} onClose={() => setSigningIn(undefined)} />
        )}
      </Suspense>
    </>
  )
}

function noteOf({ credentials = [] }: Connector): string | undefined {
  return credentials.find(({ note }) => note !== undefined)?.note
}
