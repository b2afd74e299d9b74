import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { hasOwnHost, needsToken } from '../../../domain/credential/kinds.ts'
import { call, type ResponseOf } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { credentialsQuery } from '../../shell/credentials-query.ts'

type Result = ResponseOf<'POST /api/workspaces/:id/credentials/:name/test'>

/** Sends a request with a credential and shows the outcome. */
export function CredentialTestDialog({
  workspaceId,
  credential: { name, kind, hosts },
  onClose,
}: {
  workspaceId: string
  credential: { name: string; kind: string; hosts: readonly string[] }
  onClose: () => void
}) {
  const queries = useQueryClient()
  const isServer = hasOwnHost(kind)
  const [first = ''] = hosts
  const [url, setUrl] = useState(first.includes('*') ? '' : first.includes('://') ? first : `https://${first}/`)
  const [result, setResult] = useState<Result>()
  const send = async () => {
    const params = { id: workspaceId, name }
    setResult(
      await call('POST /api/workspaces/:id/credentials/:name/test', {
        params,
        body: url.trim() === '' || isServer ? {} : { url: url.trim() },
      }),
    )
    await queries.invalidateQueries(credentialsQuery(workspaceId))
  }
  return (
    <FormDialog title={`Test ${name}`} submit={isServer ? 'Log in' : 'Send request'} onClose={onClose} onSubmit={send}>
      {isServer ? (
        <p className="text-muted text-sm">Connects to the server of the credential and logs in there.</p>
      ) : (
        <TextField
          label="URL"
          note={`A GET request with the credential is sent to it. Choose one that only accounts may read.${
            needsToken(kind) ? ' Leave it empty to get a token only.' : ''
          }`}
          type="url"
          required={!needsToken(kind)}
          autoFocus
          value={url}
          onChange={setUrl}
        />
      )}
      {result && (
        <p role="status" className={result.ok ? 'text-sm text-ok-text' : 'text-sm text-error-text'}>
          {result.ok ? (isServer ? 'The server accepted the login.' : acceptedText(result.status)) : result.error}
        </p>
      )}
    </FormDialog>
  )
}

function acceptedText(status: number | undefined): string {
  return status === undefined ? 'The server issued a token.' : `The service accepted the request: status ${status}.`
}
