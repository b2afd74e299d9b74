import { Plus } from 'lucide-react'
import { type ComponentProps, lazy, Suspense, useState } from 'react'
import type { CredentialOffer } from '../../../../domain/connector/connector.ts'
import { Button } from '../../../parts/button.tsx'
import type { Tied } from '../../../parts/field.tsx'
import { useMayWrite, useWorkspace } from '../../../shell/workspace.tsx'
import { CredentialSelect } from './credential-select.tsx'

// Loaded on demand: most visits create no credential.
const CredentialDialog = lazy(async () => ({
  default: (await import('../../../screens/settings/credential-dialog.tsx')).CredentialDialog,
}))
const CredentialSignIn = lazy(async () => ({
  default: (await import('../../../screens/settings/credential-sign-in.tsx')).CredentialSignIn,
}))

/** Selects a credential of the workspace, or creates one. */
export function CredentialField({
  value,
  onChange,
  readOnly,
  tied,
  offers = [],
  title = 'New credential',
}: {
  value: string
  onChange: (name: string | undefined) => void
  readOnly: boolean
  tied: Tied
  /** The kinds that fit a service, with the values of a new credential. */
  offers?: readonly CredentialOffer[]
  title?: string
}) {
  const { id } = useWorkspace()
  const mayWrite = useMayWrite()
  const [isNew, setIsNew] = useState(false)
  const [signingIn, setSigningIn] = useState<ComponentProps<typeof CredentialSignIn>['credential']>()
  return (
    <>
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
      <Suspense>
        {isNew && (
          <CredentialDialog
            workspaceId={id}
            credential={undefined}
            offers={offers}
            title={title}
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
