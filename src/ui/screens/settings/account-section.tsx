import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { call } from '../../api/call.ts'
import { sessionKey, useMe } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { dateText } from '../../parts/time-text.ts'
import { useToast } from '../../parts/toast.tsx'
import { chooseTheme, chosenTheme } from '../../shell/theme.ts'
import { ApplicationsSection } from './applications-section.tsx'
import { Facts, Section } from './section.tsx'
import { SignOut } from './sign-out.tsx'
import { tierFact } from './tier-fact.ts'

/** The signed-in account, its password, and the theme of this browser. */
export function AccountSection() {
  const me = useMe()
  const { user, service } = me
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <>
      <Section title="Account" action={!service.noAuth && <SignOut />}>
        <Facts
          facts={[
            { name: 'Email', value: user.email },
            { name: 'Created', value: dateText(Date.parse(user.createdAt)) },
            tierFact(me),
          ]}
        />
      </Section>
      <Section
        title={user.hasPassword ? 'Change password' : 'Set password'}
        note={
          user.hasPassword
            ? 'Changing it signs you out of all other sessions and disconnects applications.'
            : 'Without a password, you need a new sign-in link every time you sign in. Set it within 10 minutes of signing in.'
        }
      >
        <PasswordForm hasPassword={user.hasPassword} />
      </Section>
      <ApplicationsSection />
      <Section title="Appearance" note="Saved in this browser.">
        <div>
          <Segments
            label="Theme"
            value={theme}
            onChange={(next) => {
              chooseTheme(next)
              setTheme(next)
            }}
            options={[
              { value: 'system', label: 'System' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
          />
        </div>
      </Section>
    </>
  )
}

function PasswordForm({ hasPassword }: { hasPassword: boolean }) {
  const form = useRef<HTMLFormElement>(null)
  const queries = useQueryClient()
  const toast = useToast()
  const set = useMutation({
    mutationFn: (body: { password: string; currentPassword?: string }) => call('PUT /api/editor/me/password', { body }),
    onSuccess: async () => {
      form.current?.reset()
      toast.show({ text: hasPassword ? 'Password changed.' : 'Password set.' })
      await queries.invalidateQueries({ queryKey: sessionKey })
    },
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const currentPassword = fields.get('current')
    set.mutate({
      password: String(fields.get('password')),
      ...(typeof currentPassword === 'string' ? { currentPassword } : {}),
    })
  }
  return (
    <form ref={form} onSubmit={send} className="flex max-w-88 flex-col gap-3">
      {hasPassword && (
        <TextField label="Current password" name="current" type="password" autoComplete="current-password" required />
      )}
      <TextField
        label="New password"
        note="8 characters or more."
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        maxLength={1000}
      />
      <ErrorNote error={set.error} />
      <div>
        <Button type="submit" busy={set.isPending}>
          {hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </div>
    </form>
  )
}
