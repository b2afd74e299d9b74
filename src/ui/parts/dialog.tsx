import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { useMutation } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { FormEvent, ReactNode, RefObject } from 'react'
import { Button, IconButton } from './button.tsx'
import { classes } from './class-names.ts'
import { ErrorNote } from './states.tsx'

type Width = 'small' | 'normal' | 'wide' | 'full'
const widths: Record<Width, string> = {
  small: 'top-[12vh] max-h-[80vh] max-w-104',
  normal: 'top-[12vh] max-h-[80vh] max-w-136',
  wide: 'top-[12vh] max-h-[80vh] max-w-208',
  full: 'top-[3vh] h-[94vh] max-w-400',
}

/** A modal dialog. Escape and a click outside close it. The focus returns to where it was. */
export function Dialog({
  open = true,
  onClose,
  title,
  description,
  width = 'normal',
  focus,
  children,
}: {
  open?: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  width?: Width
  /** The element with the focus at first, by default the first control. Null: the content takes it. */
  focus?: RefObject<HTMLElement | null> | null
  children: ReactNode
}) {
  return (
    <BaseDialog.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop z-40" />
        <BaseDialog.Popup
          {...(focus === undefined ? { initialFocus: firstControl } : { initialFocus: focus ?? false })}
          className={classes(
            'popup fixed left-1/2 z-50 flex w-[calc(100vw-24px)] -translate-x-1/2 flex-col',
            widths[width],
          )}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <BaseDialog.Title className="text-base font-semibold">{title}</BaseDialog.Title>
              {description && (
                <BaseDialog.Description render={<div />} className="mt-0.5 text-sm text-muted">
                  {description}
                </BaseDialog.Description>
              )}
            </div>
            <BaseDialog.Close
              render={<IconButton label="Close" icon={<X size={16} />} size="small" className="-mr-1" />}
            />
          </header>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

/**
 * The first control of the content. Close is the last resort: with the focus, its hint would cover the dialog, and the
 * first Escape would close only the hint.
 */
function firstControl(): HTMLElement | true {
  const popup = [...document.querySelectorAll<HTMLElement>('[role=dialog]')].at(-1)
  const controls = popup?.querySelectorAll<HTMLElement>(
    'input, select, textarea, button, a[href], [tabindex="0"], [contenteditable=true]',
  )
  const isUsable = (one: HTMLElement) =>
    !one.matches(':disabled, header button, [tabindex="-1"]') && one.checkVisibility()
  return [...(controls ?? [])].find(isUsable) ?? true
}

/** `isRead`: it has only text, so the keyboard must reach it to scroll. */
export function DialogBody({ isRead = false, children }: { isRead?: boolean; children: ReactNode }) {
  return (
    <div
      {...(isRead ? { tabIndex: 0 } : {})}
      className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-5 pb-5 -outline-offset-2"
    >
      {children}
    </div>
  )
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{children}</footer>
}

/** A dialog with a form. Enter submits it. Shows the error if `onSubmit` fails. */
export function FormDialog({
  onSubmit,
  submit,
  children,
  ...dialog
}: Omit<Parameters<typeof Dialog>[0], 'open'> & {
  /** Closes the dialog, or replaces it. */
  onSubmit: () => Promise<unknown>
  submit: string
}) {
  const work = useMutation({ mutationFn: onSubmit })
  const send = (event: FormEvent) => {
    event.preventDefault()
    work.mutate()
  }
  const forget = () => {
    if (work.isError) work.reset()
  }
  return (
    <Dialog {...dialog}>
      {/* An error is about what was sent, so it goes with the next change. */}
      <form onSubmit={send} onChange={forget} onDrop={forget} className="flex min-h-0 flex-1 flex-col">
        <DialogBody>
          {children}
          <ErrorNote error={work.error} />
        </DialogBody>
        <DialogActions>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={work.isPending}>
            {submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
