import { useMutation, useQueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useSignOut } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useToast } from '../../parts/toast.tsx'
import { applicationsKey } from './applications-section.tsx'

/** Ends this session, or all others. */
export function SignOut() {
  const [asks, setAsks] = useState(false)
  const signOut = useSignOut()
  const queries = useQueryClient()
  const toast = useToast()
  const leave = useMutation({ mutationFn: signOut, onError: toast.fail })
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setAsks(true)}>Sign out everywhere else</Button>
      <Button icon={<LogOut size={14} aria-hidden="true" />} busy={leave.isPending} onClick={() => leave.mutate()}>
        Sign out
      </Button>
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        title="Sign out everywhere else?"
        action="Sign out everywhere else"
        onConfirm={async () => {
          await call('DELETE /api/editor/me/sessions')
          await queries.invalidateQueries({ queryKey: applicationsKey })
          toast.show({ text: 'Signed out everywhere else.' })
        }}
      >
        This ends all other sessions of your account and disconnects its applications. API keys keep working: revoke
        those that you do not know.
      </Confirm>
    </div>
  )
}
