import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogActions, DialogBody } from './dialog.tsx'
import { ErrorNote } from './states.tsx'

/** Asks for confirmation of an action that cannot be undone. Shows the error if it fails. */
export function Confirm({
  open,
  onClose,
  title,
  children,
  action,
  onConfirm,
}: {
  open: boolean
  onClose: () => void
  title: string
  children?: ReactNode
  action: string
  onConfirm: () => Promise<unknown>
}) {
  const work = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const close = () => {
    work.reset()
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={title} width="small">
      <DialogBody>
        <div className="text-sm text-muted">{children}</div>
        <ErrorNote error={work.error} />
      </DialogBody>
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button look="danger" busy={work.isPending} onClick={() => work.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
