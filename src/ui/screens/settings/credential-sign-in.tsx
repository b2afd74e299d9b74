import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../api/call.ts'
import { useMe } from '../../api/session.ts'
import { CopyField } from '../../parts/copy-field.tsx'
import { Dialog, DialogBody, FormDialog } from '../../parts/dialog.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import { credentialsQuery } from '../../shell/credentials-query.ts'

type Props = {
  workspaceId: string
  credential: { name: string; kind: string; fields: Readonly<Record<string, unknown>> }
  onClose: () => void
}

/** Lets a person sign in at the provider of a credential: in this browser, or with a code on another device. */
export function CredentialSignIn(props: Props) {
  return props.credential.kind === 'oauth2_device' ? <DeviceSignIn {...props} /> : <BrowserSignIn {...props} />
}

function BrowserSignIn({ workspaceId, credential: { name, kind, fields }, onClose }: Props) {
  // For most MCP servers, the service registers itself, so nobody has to enter its URL anywhere.
  const registersItself = kind === 'mcp_oauth' && !fields['clientId']
  const { service } = useMe()
  const [path] = useLocation()
  const start = async () => {
    const params = { id: workspaceId, name }
    const body = { returnTo: path }
    const started = await call('POST /api/workspaces/:id/credentials/:name/sign-in', { params, body })
    if ('url' in started) window.location.assign(started.url)
  }
  return (
    <FormDialog title={`Sign in with ${name}`} submit="Go to the provider" onClose={onClose} onSubmit={start}>
      <p className="text-sm text-muted">
        You sign in on the page of the provider, which sends you back here. The service stores the token that it gets.
      </p>
      {!registersItself && (
        <CopyField
          label="Redirect URL"
          note="The provider must know this URL. Add it to the settings of your application there."
          value={`${service.baseUrl}/api/oauth/callback`}
        />
      )}
    </FormDialog>
  )
}

function DeviceSignIn({ workspaceId, credential: { name }, onClose }: Props) {
  const toast = useToast()
  const queries = useQueryClient()
  const started = useQuery({
    queryKey: ['sign-in', workspaceId, name],
    queryFn: () =>
      call('POST /api/workspaces/:id/credentials/:name/sign-in', { params: { id: workspaceId, name }, body: {} }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const { data } = useQuery({
    ...credentialsQuery(workspaceId),
    enabled: started.data !== undefined,
    refetchInterval: 2_000,
  })
  const now = data?.data.find((each) => each.name === name)
  const isDone = started.data !== undefined && now?.state === 'ok'
  useEffect(() => {
    if (!isDone) return
    toast.show({ text: `You are signed in with ${name}.` })
    void queries.invalidateQueries(credentialsQuery(workspaceId))
    onClose()
  }, [isDone, name, onClose, queries, toast, workspaceId])
  const code = started.data && 'userCode' in started.data ? started.data : undefined
  return (
    <Dialog title={`Sign in with ${name}`} onClose={onClose}>
      <DialogBody>
        {started.error ? (
          <Failed error={started.error} retry={() => void started.refetch()} />
        ) : !code ? (
          <Loading lines={3} />
        ) : (
          <>
            <p className="text-sm text-muted">
              Open{' '}
              <a className="underline" href={code.verificationUrl} target="_blank" rel="noreferrer">
                {code.verificationUrl}
              </a>{' '}
              on another device, and enter this code. This dialog closes when you have signed in.
            </p>
            <CopyField label="Code" value={code.userCode} />
            {now?.state === 'needs_sign_in' && now.problem?.includes('failed') && (
              <p role="status" className="text-sm text-error-text">
                {now.problem}
              </p>
            )}
          </>
        )}
      </DialogBody>
    </Dialog>
  )
}
