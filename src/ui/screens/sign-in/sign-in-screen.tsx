import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { useSearch } from 'wouter'
import { call } from '../../api/call.ts'
import { sessionKey } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { Mark } from '../../shell/mark.tsx'
import { useTitle } from '../../shell/page.tsx'

/** The sign-in form. It replaces every screen while nobody is signed in, so the URL stays the same. */
export function SignInScreen() {
  useTitle('Sign in')
  const queries = useQueryClient()
  const usedLink = new URLSearchParams(useSearch()).get('link') === 'used'
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string }) => call('POST /api/session', { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionKey }),
  })
  const form = useRef<HTMLFormElement>(null)
  const { data: links } = useQuery({
    queryKey: ['sign-in-links'],
    queryFn: ({ signal }) => call('GET /api/session/link', { signal }),
  })
  const sendLink = useMutation({
    mutationFn: (email: string) => call('POST /api/session/link', { body: { email } }),
  })
  const askForLink = () => {
    const field = form.current?.elements.namedItem('email') as HTMLInputElement | null
    if (field?.reportValidity()) sendLink.mutate(field.value)
  }
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    signIn.mutate({ email: String(fields.get('email')), password: String(fields.get('password')) })
  }
  return (
    <main className="flex h-full items-center justify-center p-4">
      <div className="w-full max-w-88">
        <div className="mb-6 flex flex-col items-center gap-3">
          <Mark size={40} />
          <h1 className="text-xl font-semibold">Sign in to Millrace</h1>
        </div>
        {usedLink && !signIn.isError && (
          <p role="alert" className="mb-4 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-text">
            This sign-in link has expired or was already used. Sign in with your password or ask for a new link.
          </p>
        )}
        <form
          ref={form}
          onSubmit={send}
          className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-5 shadow-sm"
        >
          <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
          <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
          <ErrorNote error={signIn.error} />
          <Button look="primary" type="submit" busy={signIn.isPending}>
            Sign in
          </Button>
        </form>
        {links?.available ? (
          <div className="mt-4 flex flex-col items-center gap-2">
            {sendLink.isSuccess ? (
              <p role="status" className="text-center text-sm text-muted">
                If there is an account with this e-mail, a sign-in link is on its way.
              </p>
            ) : (
              <Button look="quiet" onClick={askForLink} busy={sendLink.isPending}>
                Send me a sign-in link
              </Button>
            )}
            <ErrorNote error={sendLink.error} />
          </div>
        ) : (
          <p className="mt-4 text-center text-xs text-muted">
            No password, or forgot it? Run this on the server:{' '}
            <code className="font-mono text-text">millrace users password</code>
          </p>
        )}
      </div>
    </main>
  )
}
